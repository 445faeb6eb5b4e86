//! Predictions of a posterior, in the form that every score reads.

use std::path::Path;

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_nn::cpu::Cpu;
use dubio_nn::engine::Engine;
use dubio_nn::loss::log_std;
use dubio_nn::real::Real;
use dubio_predictions::{Floats, Output, write};
use dubio_random::stream::Stream;

use crate::augment::Augmentation;
use crate::error::Error;
use crate::fitted::{Fitted, side_by_side};
use crate::posterior::Noise;

/// Test-time augmentation: each sample looks at the pictures so many times, changed at random each
/// time, and each look is a sample of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestTime {
    /// The random changes; none for pictures as they are.
    pub augment: Vec<Augmentation>,
    /// Looks for each sample; 0 counts as 1.
    pub looks: usize,
}

/// What the samples say of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// `[samples, examples, outputs]`: logits, or mean and deviation in the target's unit.
    pub values: Vec<f32>,
    /// The shape of the values.
    pub shape: [usize; 3],
    kind: Kind,
    integers: Vec<(String, Vec<i64>)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Classes,
    Targets(Vec<f32>),
}

/// Examples at a time.
const CHUNK: usize = 1000;

impl<T: Real> Fitted<T> {
    /// Predicts a set, sample after sample; samples side by side. The noise of dropout and of
    /// augmentation comes from `stream`.
    #[inline(never)]
    pub fn predict(
        &self,
        data: &Dataset,
        test_time: &TestTime,
        stream: &Stream,
    ) -> Result<Predicted, Error> {
        let plain = self.training.scaling().inputs::<T>(data)?;
        self.predict_inputs(&plain, data, test_time, stream)
    }

    /// Predicts inputs as the network reads them, in the place of a set's own.
    pub(crate) fn predict_inputs(
        &self,
        plain: &[T],
        data: &Dataset,
        test_time: &TestTime,
        stream: &Stream,
    ) -> Result<Predicted, Error> {
        let scaling = self.training.scaling();
        let augmented = !test_time.augment.is_empty();
        let looks = if augmented { test_time.looks.max(1) } else { 1 };
        let pictures = match &data.inputs {
            Inputs::Pictures(pictures) if augmented => Some(pictures),
            _ if augmented => return Err(Error::Unsuited("only pictures can be augmented".into())),
            _ => None,
        };
        let (points, passes) = (&self.posterior.points, self.posterior.noise.passes());
        let outputs = self.training.outputs();
        let size = scaling.shape().size();
        let each = side_by_side(points.len(), |index| -> Result<Vec<f32>, Error> {
            let point = &points[index];
            let network = self.recipe.network(&self.network, &self.training)?;
            let mut engine = Cpu::new(&network, CHUNK.min(data.len().max(1)));
            engine.set_statistics(&point.statistics);
            let mut all = Vec::new();
            let mut changed = Vec::new();
            let mut out = Vec::new();
            for pass in 0..passes * looks {
                let stream = stream.child("sample").nth(index * passes * looks + pass);
                let noise = (self.posterior.noise != Noise::Off).then(|| stream.child("layers"));
                let inputs = match pictures {
                    None => plain,
                    Some(pictures) => {
                        changed.resize(plain.len(), T::of(0.0));
                        let rows: Vec<u32> = (0..data.len() as u32).collect();
                        let stream = stream.child("augment");
                        let changes = &test_time.augment;
                        scaling.pictures(pictures, &rows, changes, &stream, &mut changed);
                        &changed
                    }
                };
                out.clear();
                for inputs in inputs.chunks(CHUNK * size) {
                    engine.predict(&point.theta, inputs, noise.as_ref(), &mut out);
                }
                all.extend(out.iter().map(|v| v.wide() as f32));
            }
            Ok(all)
        });
        let mut values = Vec::with_capacity(points.len() * passes * looks * data.len() * outputs);
        for part in each {
            values.extend(part?);
        }
        let shape = [points.len() * passes * looks, data.len(), outputs];
        let mut integers: Vec<(String, Vec<i64>)> = Vec::new();
        let kind = match &data.answers {
            Answers::Classes { labels, .. } => {
                integers.push(("labels".into(), labels.iter().map(|&y| i64::from(y)).collect()));
                Kind::Classes
            }
            Answers::Targets(targets) => {
                let scale = scaling.targets().expect("checked to be of one kind");
                for pair in values.chunks_exact_mut(2) {
                    pair[0] = scale.mean_back(f64::from(pair[0])) as f32;
                    pair[1] = scale.deviation_back(log_std(f64::from(pair[1])).exp()) as f32;
                }
                Kind::Targets(targets.iter().map(|&y| y as f32).collect())
            }
        };
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (sample, example) = (at / (outputs * data.len()), at / outputs % data.len());
            return Err(Error::Predicted { sample, example, value: values[at] });
        }
        integers.extend(data.groups.iter().map(|(name, all)| {
            let array = if name.is_empty() { "groups".into() } else { format!("groups.{name}") };
            (array, all.clone())
        }));
        Ok(Predicted { values, shape, kind, integers })
    }
}

impl Predicted {
    /// Writes `.npz`, `.safetensors` or a folder of `.npy`.
    pub fn write(&self, path: &Path) -> Result<(), dubio_predictions::Error> {
        let [samples, examples, _] = self.shape;
        let column = |which: usize| -> Vec<f32> {
            self.values.iter().skip(which).step_by(2).copied().collect()
        };
        let integers = self.integers.clone();
        match &self.kind {
            Kind::Classes => {
                let shape = self.shape.to_vec();
                let floats = vec![Floats { name: "logits", values: &self.values, shape }];
                write(path, &Output { floats, integers })
            }
            Kind::Targets(targets) => {
                let (mean, std) = (column(0), column(1));
                let shape = vec![samples, examples];
                let floats = vec![
                    Floats { name: "mean", values: &mean, shape: shape.clone() },
                    Floats { name: "std", values: &std, shape },
                    Floats { name: "targets", values: targets, shape: vec![examples] },
                ];
                write(path, &Output { floats, integers })
            }
        }
    }
}
