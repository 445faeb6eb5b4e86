//! The Python package: arrays in, numbers out. Commands are those of `dubio-api`; what they are called, and
//! the scores and methods with their descriptions, come from the cards.

mod arrays;
mod calls;
mod cards;
mod fit;
#[cfg(target_os = "linux")]
mod huge_pages;
mod pool;
mod work;

use std::path::PathBuf;

use dubio_nn::cuda::look_among_packages;
use dubio_predictions::memory::hold;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use self::arrays::{ArrayIn, arrays};
use self::calls::Failure;
use self::work::supervised;

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: huge_pages::HugePages = huge_pages::HugePages;

/// A result as JSON, and numbers as bytes of f32 with their shape.
pub(crate) type Reply<'py> = (String, Option<(Bound<'py, PyBytes>, Vec<usize>)>);

/// Runs a command of the library. `files` are arrays that stand in for predictions files.
#[pyfunction]
fn call<'py>(
    py: Python<'py>,
    command: String,
    settings: String,
    files: Vec<Vec<ArrayIn>>,
    threads: usize,
    tell: Py<PyAny>,
) -> PyResult<Reply<'py>> {
    let unfit = |error| raised(py, Failure::new("PredictionError", error));
    let files: Result<Vec<_>, _> = files.into_iter().map(|all| arrays(all).map(hold)).collect();
    let files = files.map_err(unfit)?;
    let answer =
        supervised(py, threads, &tell, move |told| calls::call(&command, &settings, &files, told))?;
    let answer = answer.map_err(|failure| raised(py, failure))?;
    let numbers = answer.numbers.map(|(numbers, shape)| {
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
        (PyBytes::new(py, &bytes), shape)
    });
    Ok((answer.json, numbers))
}

/// The package's exception for a failure.
pub(crate) fn raised(py: Python<'_>, failure: Failure) -> PyErr {
    let made = || {
        let class = match failure.kind {
            "KeyboardInterrupt" => py.import("builtins")?.getattr(failure.kind)?,
            kind => py.import("dubio._errors")?.getattr(kind)?,
        };
        class.call1((failure.words,))
    };
    match made() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

#[pymodule]
fn _dubio(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    // NVIDIA's libraries are packages of this interpreter, whose environment need not be active.
    let path = module.py().import("sys")?.getattr("path")?.extract::<Vec<PathBuf>>()?;
    look_among_packages(path);
    module.add_function(wrap_pyfunction!(call, module)?)?;
    module.add_function(wrap_pyfunction!(cards::cards, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    module.add_class::<fit::Posterior>()
}
