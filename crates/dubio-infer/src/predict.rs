//! Predictions of a posterior, in the form that every score reads.

use std::path::Path;
use std::sync::Arc;

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_nn::engine::Engine;
use dubio_nn::real::Real;
use dubio_predictions::{Floats, Output, write};
use dubio_progress::{Progress, Silent};
use dubio_random::stream::Stream;

use crate::augment::Augmentation;
use crate::error::Error;
use crate::fitted::Fitted;
use crate::likelihood::{Array, Likelihood};
use crate::posterior::Sample;
use crate::room::{examples_together, networks_at_once};
use crate::side_by_side::side_by_side;

/// Test-time augmentation: each sample looks at the images several times, changed at random each time, and each look
/// counts as a sample of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestTime {
    /// The random changes; none for images as they are.
    pub augment: Vec<Augmentation>,
    /// Looks for each sample; 0 counts as 1.
    pub looks: usize,
}

/// What the samples predict for a set.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// `[samples, examples, numbers]`: logits, or mean and standard deviation in the target's unit.
    pub values: Vec<f32>,
    /// The shape of the values.
    pub shape: [usize; 3],
    likelihood: Arc<dyn Likelihood>,
    targets: Option<Vec<f32>>,
    integers: Vec<(String, Vec<i64>)>,
}

impl<E: Engine> Fitted<E> {
    /// Predicts a set, samples in parallel. The noise of dropout and of augmentation comes from `stream`.
    pub fn predict(
        &self,
        data: &Dataset,
        test_time: &TestTime,
        stream: &Stream,
    ) -> Result<Predicted, Error> {
        self.predict_watched(data, test_time, stream, &Silent)
    }

    /// As [`Self::predict`]. A piece of progress is one pass over the set; a stop gives [`Error::Stopped`].
    #[inline(never)]
    pub fn predict_watched(
        &self,
        data: &Dataset,
        test_time: &TestTime,
        stream: &Stream,
        progress: &dyn Progress,
    ) -> Result<Predicted, Error> {
        let plain = self.training.scaling().inputs(data)?;
        self.predict_inputs(&plain, data, test_time, stream, progress)
    }

    /// Predicts these inputs, as the network reads them, instead of the set's own.
    pub(crate) fn predict_inputs(
        &self,
        plain: &[E::Number],
        data: &Dataset,
        test_time: &TestTime,
        stream: &Stream,
        progress: &dyn Progress,
    ) -> Result<Predicted, Error> {
        let scaling = self.training.scaling();
        let augmented = !test_time.augment.is_empty();
        let looks = if augmented { test_time.looks.max(1) } else { 1 };
        let images = match &data.inputs {
            Inputs::Images(images) if augmented => Some(images),
            _ if augmented => return Err(Error::Unsuited("only images can be augmented".into())),
            _ => None,
        };
        let predictive = self.predictive();
        let (parts, passes) = (predictive.parts(), predictive.samples_of_part() * looks);
        let outputs = self.training.outputs();
        let size = scaling.shape().size();
        progress.start("predicting", parts * passes);
        let network = self.recipe.network(&self.network, &self.training)?;
        let together = examples_together(&network).min(data.len().max(1));
        let at_once = networks_at_once(&network, together, self.engine.free_bytes());
        let each = side_by_side(parts, at_once, |part| -> Result<Vec<f32>, Error> {
            let mut model = self.engine.model(&network, together);
            let mut all = Vec::new();
            let mut changed = Vec::new();
            let mut out = Vec::new();
            for pass in 0..passes {
                let stream = stream.child("sample").nth(part * passes + pass);
                let noise = stream.child("layers");
                let inputs = match images {
                    None => plain,
                    Some(images) => {
                        changed.resize(plain.len(), E::Number::of(0.0));
                        let rows: Vec<u32> = (0..data.len() as u32).collect();
                        let stream = stream.child("augment");
                        let changes = &test_time.augment;
                        scaling.images(images, &rows, changes, &stream, &mut changed);
                        &changed
                    }
                };
                out.clear();
                let sample = Sample { part, of_part: pass / looks };
                for inputs in inputs.chunks(together * size) {
                    if progress.should_stop() {
                        return Err(Error::Stopped);
                    }
                    predictive.outputs(sample, &mut model, inputs, &noise, &mut out);
                }
                all.extend(out.iter().map(|v| v.wide() as f32));
                progress.advance(1);
            }
            Ok(all)
        });
        let mut values = Vec::with_capacity(parts * passes * data.len() * outputs);
        for part in each {
            values.extend(part?);
        }
        let trained = Arc::clone(&self.training.likelihood);
        let likelihood = predictive.likelihood().unwrap_or(trained);
        let values = likelihood.predictions(values, scaling);
        let numbers = values.len() / (parts * passes * data.len()).max(1);
        let shape = [parts * passes, data.len(), numbers];
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (sample, example) = (at / (numbers * data.len()), at / numbers % data.len());
            return Err(Error::Predicted { sample, example, value: values[at] });
        }
        let targets = match &data.answers {
            Answers::Classes { .. } | Answers::Unlabelled(_) => None,
            Answers::Targets(targets) => Some(targets.iter().map(|&y| y as f32).collect()),
        };
        Ok(Predicted { values, shape, likelihood, targets, integers: integers(data) })
    }
}

/// The arrays of integers of a predictions file: `labels`, and `groups` or `groups.NAME`.
pub fn integers(data: &Dataset) -> Vec<(String, Vec<i64>)> {
    let labels = match &data.answers {
        Answers::Classes { labels, .. } => Some(labels.iter().map(|&y| i64::from(y)).collect()),
        Answers::Targets(_) | Answers::Unlabelled(_) => None,
    };
    let groups = data.groups.iter().map(|(name, all)| {
        let array = if name.is_empty() { "groups".into() } else { format!("groups.{name}") };
        (array, all.clone())
    });
    labels.map(|labels| ("labels".into(), labels)).into_iter().chain(groups).collect()
}

impl Predicted {
    /// Writes `.npz`, `.safetensors` or a folder of `.npy`.
    pub fn write(&self, path: &Path) -> Result<(), dubio_predictions::Error> {
        let arrays = self.likelihood.arrays(&self.values, self.shape);
        let mut floats: Vec<Floats<'_>> = arrays
            .iter()
            .map(|Array { name, values, shape }| Floats { name, values, shape: shape.clone() })
            .collect();
        if let Some(targets) = &self.targets {
            floats.push(Floats { name: "targets", values: targets, shape: vec![targets.len()] });
        }
        write(path, &Output { floats, integers: self.integers.clone() })
    }
}
