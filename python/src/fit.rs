//! Training on arrays, for estimators.

use std::sync::Arc;

use dubio_data::dataset::Dataset;
use dubio_data::formats::npz::of_arrays;
use dubio_infer::fit::Options;
use dubio_infer::fitted::{Fitted, Numbers};
use dubio_infer::predict::TestTime;
use dubio_infer::recipe::Recipe;
use dubio_nn::{Device, Precision, Single, cuda};
use dubio_progress::Progress;
use dubio_random::stream::Stream;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{ArrayIn, arrays};
use crate::calls::Failure;
use crate::work::supervised;
use crate::{Reply, raised};

/// A posterior over the weights of a network.
#[pyclass(frozen, module = "dubio._dubio")]
pub(crate) struct Posterior {
    fitted: Arc<Fitted<Single>>,
    stream: Stream,
}

/// The numbers of a posterior as bytes of f32: of the parameters and the running statistics of each point, and of each
/// member's factors.
type Bytes<'py> = (Vec<[Bound<'py, PyBytes>; 2]>, Vec<Vec<Bound<'py, PyBytes>>>);

/// Trains on `inputs` and `labels` or `targets`. The same settings, arrays and seed give the same bytes as
/// `dubio train` on the same numbers. A posterior whose numbers are given is made from them instead.
#[pyfunction]
#[pyo3(signature = (method, settings, network, engine, given, seed, threads, tell, numbers=None))]
#[allow(clippy::too_many_arguments)] // by name, from one place in Python
pub(crate) fn fit(
    py: Python<'_>,
    method: String,
    settings: String,
    network: String,
    engine: (String, String),
    given: Vec<ArrayIn>,
    seed: u64,
    threads: usize,
    tell: Py<PyAny>,
    numbers: Option<Bytes<'_>>,
) -> PyResult<Posterior> {
    let data = set(given).map_err(|failure| raised(py, failure))?;
    let numbers = numbers.map(numbers_of);
    let stream = Stream::root(seed);
    let own = stream.clone();
    let fitted = supervised(py, threads, &tell, move |told| {
        let bad = |error: String| Failure::new("SettingError", error);
        let settings = serde_json::from_str(&settings).map_err(|e| bad(e.to_string()))?;
        let recipe = Recipe::parse(&method, settings).map_err(|e| bad(e.to_string()))?;
        let options = Options { progress: &**told, checkpoints: None };
        on_device(|| {
            let engine = engine_of(&engine, &**told)?;
            if let Some(numbers) = numbers {
                return recipe
                    .restore(&engine, &network, &data, &numbers)
                    .map_err(|e| bad(e.to_string()));
            }
            let fitted = recipe.fit(&engine, &network, &data, &own.child("fit"), &options);
            fitted.map_err(|unfinished| match unfinished.error {
                dubio_infer::Error::Stopped => Failure::new("KeyboardInterrupt", "stopped"),
                error => bad(error.to_string()),
            })
        })
    })?;
    let fitted = fitted.map_err(|failure| raised(py, failure))?;
    Ok(Posterior { fitted: Arc::new(fitted), stream: stream.child("predict") })
}

fn numbers_of((points, factors): Bytes<'_>) -> Numbers<f32> {
    let read = |bytes: &Bound<'_, PyBytes>| -> Vec<f32> {
        let (chunks, _) = bytes.as_bytes().as_chunks::<4>();
        chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
    };
    Numbers {
        points: points.iter().map(|point| point.each_ref().map(read)).collect(),
        factors: factors.iter().map(|all| all.iter().map(read).collect()).collect(),
    }
}

/// The engine of a device and a precision, by their names.
fn engine_of(
    (device, precision): &(String, String),
    progress: &dyn Progress,
) -> Result<Single, Failure> {
    let bad = |error: String| Failure::new("SettingError", error);
    let device: Device = device.parse().map_err(bad)?;
    let precision: Precision = precision.parse().map_err(bad)?;
    if device == Device::Cpu && precision != Precision::F32 {
        let what =
            format!("precision=\"{precision}\" is for a GPU; add device=\"cuda\", or leave it out");
        return Err(bad(what));
    }
    if let Some(why) = device.passed_over() {
        progress.note(&format!("networks run on the CPU: {why}"));
    }
    device.engine(precision).map_err(|error| bad(error.to_string()))
}

/// Runs work that may use a GPU, which may fail midway.
fn on_device<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    cuda::guarded(work).unwrap_or_else(|error| Err(Failure::new("Error", error)))
}

fn set(given: Vec<ArrayIn>) -> Result<Dataset, Failure> {
    let arrays = arrays(given).map_err(|error| Failure::new("PredictionError", error))?;
    let data = of_arrays("X and y".as_ref(), arrays, None, Some(""));
    data.map_err(|error| Failure::new("DataError", error))
}

#[pymethods]
impl Posterior {
    /// Number of posterior samples.
    #[getter]
    fn samples(&self) -> usize {
        self.fitted.samples()
    }

    /// `[samples, examples, numbers]` as bytes of f32, and the shape: logits, or mean and standard deviation.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        given: Vec<ArrayIn>,
        threads: usize,
        tell: Py<PyAny>,
    ) -> PyResult<Reply<'py>> {
        let data = set(given).map_err(|failure| raised(py, failure))?;
        let (fitted, stream) = (Arc::clone(&self.fitted), self.stream.clone());
        let predicted = supervised(py, threads, &tell, move |progress| {
            let predicted =
                || fitted.predict_watched(&data, &TestTime::default(), &stream, &**progress);
            on_device(|| predicted().map_err(|error| Failure::new("PredictionError", error)))
        })?;
        let predicted = predicted.map_err(|failure| raised(py, failure))?;
        let bytes: Vec<u8> = predicted.values.iter().flat_map(|x| x.to_ne_bytes()).collect();
        Ok(("null".to_string(), Some((PyBytes::new(py, &bytes), predicted.shape.to_vec()))))
    }

    /// Its numbers, from which [`fit`] makes it again.
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Bytes<'py>> {
        let numbers = on_device(|| Ok(self.fitted.numbers()));
        let Numbers { points, factors } = numbers.map_err(|failure| raised(py, failure))?;
        let written = |numbers: &Vec<f32>| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
            PyBytes::new(py, &bytes)
        };
        let points = points.iter().map(|point| point.each_ref().map(written)).collect();
        let factors = factors.iter().map(|all| all.iter().map(written).collect()).collect();
        Ok((points, factors))
    }

    /// The weights of every sample as `.safetensors`.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let weights = || self.fitted.weights().map_err(|e| Failure::new("SettingError", e));
        let weights = on_device(weights).map_err(|failure| raised(py, failure))?;
        Ok(weights.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
    }
}
