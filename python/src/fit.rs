//! Training on arrays, for estimators.

use std::sync::Arc;

use dubio_data::dataset::Dataset;
use dubio_data::formats::npz::of_arrays;
use dubio_infer::fit::Options;
use dubio_infer::fitted::Fitted;
use dubio_infer::predict::TestTime;
use dubio_infer::recipe::Recipe;
use dubio_nn::Single;
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

/// Trains on `inputs` and `labels` or `targets`. The same settings, arrays and seed give the same bytes as
/// `dubio train` on the same numbers.
#[pyfunction]
#[pyo3(signature = (method, settings, network, given, seed, threads, tell))]
#[allow(clippy::too_many_arguments)] // by name, from one place in Python
pub(crate) fn fit(
    py: Python<'_>,
    method: String,
    settings: String,
    network: String,
    given: Vec<ArrayIn>,
    seed: u64,
    threads: usize,
    tell: Py<PyAny>,
) -> PyResult<Posterior> {
    let data = set(given).map_err(|failure| raised(py, failure))?;
    let stream = Stream::root(seed);
    let own = stream.clone();
    let fitted = supervised(py, threads, &tell, move |told| {
        let bad = |error: String| Failure::new("SettingError", error);
        let settings = serde_json::from_str(&settings).map_err(|e| bad(e.to_string()))?;
        let recipe = Recipe::parse(&method, settings).map_err(|e| bad(e.to_string()))?;
        let options = Options { progress: &**told, checkpoints: None };
        let engine = Single::default();
        let fitted = recipe.fit(&engine, &network, &data, &own.child("fit"), &options);
        fitted.map_err(|unfinished| match unfinished.error {
            dubio_infer::Error::Stopped => Failure::new("KeyboardInterrupt", "stopped"),
            error => bad(error.to_string()),
        })
    })?;
    let fitted = fitted.map_err(|failure| raised(py, failure))?;
    Ok(Posterior { fitted: Arc::new(fitted), stream: stream.child("predict") })
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
            fitted.predict_watched(&data, &TestTime::default(), &stream, &**progress)
        })?;
        let predicted =
            predicted.map_err(|error| raised(py, Failure::new("PredictionError", error)))?;
        let bytes: Vec<u8> = predicted.values.iter().flat_map(|x| x.to_ne_bytes()).collect();
        Ok(("null".to_string(), Some((PyBytes::new(py, &bytes), predicted.shape.to_vec()))))
    }

    /// The weights of every sample as `.safetensors`.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let weights = self.fitted.weights();
        let weights = weights.map_err(|e| raised(py, Failure::new("SettingError", e)))?;
        Ok(weights.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
    }
}
