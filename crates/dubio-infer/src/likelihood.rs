//! Likelihoods: what the outputs of a network stand for.

use std::borrow::Cow;
use std::f64::consts::TAU;
use std::sync::Arc;

use dubio_data::dataset::Answers;
use dubio_data::transforms::standardise_targets::StandardiseTargets;
use dubio_nn::layer::Layer;
use dubio_nn::loss::{Kernel, Loss, Truth, log_std, mean_loss};
use dubio_nn::network::Network;
use dubio_nn::networks;
use dubio_nn::shape::Shape;

use crate::error::Error;
use crate::noise::Noise;
use crate::scaling::Scaling;

/// The layer of a noise that all examples share.
pub(crate) const NOISE: &str = "noise";

/// The likelihood of such answers.
pub fn of(answers: &Answers, noise: Noise) -> Result<Arc<dyn Likelihood>, Error> {
    Ok(match (answers, noise) {
        (Answers::Classes { classes, .. }, Noise::PerExample) => {
            Arc::new(Categorical { classes: *classes })
        }
        (Answers::Classes { .. }, _) => {
            let what = "`noise` is that of a regression, and these are classes; leave it out";
            return Err(Error::Unsuited(what.to_string()));
        }
        (Answers::Targets(_), Noise::PerExample) => Arc::new(Gaussian),
        (Answers::Targets(_), Noise::Shared) => Arc::new(SharedNoise),
        (Answers::Targets(targets), Noise::Fixed(std)) => {
            let unit = StandardiseTargets::measured(targets).std_back(1.0);
            Arc::new(FixedNoise { std: std / unit })
        }
    })
}

/// A loss that is the negative logarithm of a density, and the predictions that its outputs are.
pub trait Likelihood: Loss {
    /// Whether gradients can be of any size, so that steps have to be clipped: that of a
    /// Gaussian with a standard deviation of its own is one over its variance, that of a softmax bounded.
    fn is_steep(&self) -> bool {
        false
    }
    /// The named network with outputs that it reads; an error says why there is none.
    fn network(&self, name: &str, input: Shape) -> Result<Network, String> {
        networks::build(name, input, self.outputs())
    }
    /// What samples predict, `[samples, examples, numbers]`, from their outputs: logits, or mean and standard
    /// deviation in the unit of the targets.
    fn predictions(&self, outputs: Vec<f32>, _scaling: &Scaling) -> Vec<f32> {
        outputs
    }
    /// The arrays of a predictions file that hold such values.
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>>;
}

/// An array of a predictions file.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<'a> {
    /// Its name there.
    pub name: &'static str,
    /// Its numbers, the last axis first to change.
    pub values: Cow<'a, [f32]>,
    /// Its axes.
    pub shape: Vec<usize>,
}

/// Classes with the probabilities `softmax(outputs)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Categorical {
    /// How many classes.
    pub classes: usize,
}

impl Loss for Categorical {
    fn outputs(&self) -> usize {
        self.classes
    }
    fn mean(&self, outputs: &[f64], truth: Truth<'_>, _: &[u32], gradient: &mut [f64]) -> f64 {
        mean_loss(outputs, truth, gradient)
    }
    fn kernel(&self) -> Option<Kernel> {
        Some(Kernel::CrossEntropy)
    }
}

impl Likelihood for Categorical {
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>> {
        vec![Array { name: "logits", values: Cow::Borrowed(values), shape: shape.to_vec() }]
    }
}

/// Targets `Normal(m, s^2)`, with outputs `m` and `log s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gaussian;

impl Loss for Gaussian {
    fn outputs(&self) -> usize {
        2
    }
    fn mean(&self, outputs: &[f64], truth: Truth<'_>, _: &[u32], gradient: &mut [f64]) -> f64 {
        mean_loss(outputs, truth, gradient)
    }
    fn kernel(&self) -> Option<Kernel> {
        Some(Kernel::Gaussian)
    }
}

impl Likelihood for Gaussian {
    fn is_steep(&self) -> bool {
        true
    }
    fn predictions(&self, mut outputs: Vec<f32>, scaling: &Scaling) -> Vec<f32> {
        let scale = scaling.targets().expect("measured on targets");
        for pair in outputs.chunks_exact_mut(2) {
            pair[0] = scale.mean_back(f64::from(pair[0])) as f32;
            pair[1] = scale.std_back(log_std(f64::from(pair[1])).exp()) as f32;
        }
        outputs
    }
    fn arrays<'a>(&self, values: &'a [f32], [samples, examples, _]: [usize; 3]) -> Vec<Array<'a>> {
        let column = |name, which: usize| Array {
            name,
            values: values.iter().skip(which).step_by(2).copied().collect(),
            shape: vec![samples, examples],
        };
        vec![column("mean", 0), column("std", 1)]
    }
}

/// [`Gaussian`] with one `log s` for all examples, a parameter behind the network's only output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedNoise;

impl Loss for SharedNoise {
    fn outputs(&self) -> usize {
        Gaussian.outputs()
    }
    fn mean(&self, outputs: &[f64], truth: Truth<'_>, rows: &[u32], gradient: &mut [f64]) -> f64 {
        Gaussian.mean(outputs, truth, rows, gradient)
    }
    fn kernel(&self) -> Option<Kernel> {
        Gaussian.kernel()
    }
}

impl Likelihood for SharedNoise {
    fn is_steep(&self) -> bool {
        true
    }
    fn network(&self, name: &str, input: Shape) -> Result<Network, String> {
        let mut network = networks::build(name, input, 1)?;
        network.then(NOISE, Layer::Append { numbers: 1 });
        Ok(network)
    }
    fn predictions(&self, outputs: Vec<f32>, scaling: &Scaling) -> Vec<f32> {
        Gaussian.predictions(outputs, scaling)
    }
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>> {
        Gaussian.arrays(values, shape)
    }
}

/// Targets `Normal(m, s^2)` with a known `s`: the only output is `m`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedNoise {
    /// `s`, beside targets of standard deviation 1.
    pub std: f64,
}

impl Loss for FixedNoise {
    fn outputs(&self) -> usize {
        1
    }
    fn mean(&self, outputs: &[f64], truth: Truth<'_>, _: &[u32], gradient: &mut [f64]) -> f64 {
        let Truth::Targets(targets) = truth else { unreachable!("a noise is of targets") };
        let (n, s) = (targets.len() as f64, self.std);
        let mut sum = 0.0;
        for ((mean, target), gradient) in outputs.iter().zip(targets).zip(gradient) {
            let z = (mean - target) / s;
            *gradient = z / (s * n);
            sum += 0.5 * z * z;
        }
        sum / n + s.ln() + 0.5 * TAU.ln()
    }
}

impl Likelihood for FixedNoise {
    fn is_steep(&self) -> bool {
        true
    }
    fn predictions(&self, outputs: Vec<f32>, scaling: &Scaling) -> Vec<f32> {
        let scale = scaling.targets().expect("measured on targets");
        let std = scale.std_back(self.std) as f32;
        let means = outputs.iter().map(|mean| scale.mean_back(f64::from(*mean)) as f32);
        means.flat_map(|mean| [mean, std]).collect()
    }
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>> {
        Gaussian.arrays(values, shape)
    }
}
