//! Likelihoods: what the outputs of a network stand for.

pub mod flow;
pub mod pinball;
mod residual;

use std::borrow::Cow;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use dubio_data::dataset::Answers;
use dubio_data::transforms::standardise_targets::StandardiseTargets;
use dubio_nn::layer::Layer;
use dubio_nn::loss::{Kernel, Loss, Truth, log_std, log_sum, mean_loss};
use dubio_nn::network::Network;
use dubio_nn::networks;
use dubio_nn::parameter::Initial;
use dubio_nn::shape::Shape;
use dubio_random::normal::normals;
use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;

use crate::error::Error;
use crate::noise::Noise;
use crate::scaling::Scaling;

/// The layer of a noise that all examples share.
pub(crate) const NOISE: &str = "noise";

/// One log standard deviation for all examples, 0 at the start.
pub(crate) fn shared_noise() -> Layer {
    Layer::Append { numbers: 1, initial: Initial::Constant(0.0) }
}

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
        (Answers::Unlabelled(_), _) => return Err(unlabelled()),
        (Answers::Targets(_), Noise::PerExample) => Arc::new(Gaussian),
        (Answers::Targets(_), Noise::Shared) => Arc::new(SharedNoise),
        (Answers::Targets(targets), Noise::Fixed(std)) => {
            let unit = StandardiseTargets::measured(targets).std_back(1.0);
            Arc::new(FixedNoise { std: std / unit })
        }
    })
}

/// Why nothing can be learnt from a set without labels.
pub(crate) fn unlabelled() -> Error {
    Error::Unsuited("the training set has no labels; give labels or targets".to_string())
}

/// Why nobody asks some likelihoods for their curvature: they come with a method that has no use for it.
const OWN: &str = "a method with a likelihood of its own does not ask for its curvature";

/// A loss that is the negative logarithm of a density, and the predictions that its outputs are.
pub trait Likelihood: Loss {
    /// Whether gradients can be of any size, so that steps have to be clipped: that of a
    /// Gaussian with a standard deviation of its own is one over its variance, that of a softmax bounded.
    fn is_steep(&self) -> bool {
        false
    }
    /// Uniform numbers that the network reads behind each example's own inputs, other ones at every step, standardised.
    fn random_inputs(&self) -> usize {
        0
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
    /// Roots of the Fisher information at the outputs `f`, each `[examples, outputs]`: for every example
    /// `sum_r f_r f_r' = E_y grad log p(y | f) grad log p(y | f)'`.
    fn fisher(&self, _outputs: &[f64]) -> Vec<Vec<f64>> {
        unreachable!("{OWN}")
    }
    /// Gradients of `-log p(y | f)` at the outputs, for each example with a `y` drawn from `p(y | f)`.
    fn drawn(&self, _outputs: &[f64], _stream: &Stream) -> Vec<f64> {
        unreachable!("{OWN}")
    }
    /// Outputs that stand for the mean of `p(y | g)` over `g ~ Normal(f, covariance)`, for one example.
    fn averaged(&self, _outputs: &[f64], _covariance: &[f64], _link: Link) -> Vec<f64> {
        unreachable!("{OWN}")
    }
    /// The likelihood that reads what [`Self::averaged`] gives, where it is another one.
    fn of_averages(&self) -> Option<Arc<dyn Likelihood>> {
        None
    }
    /// The arrays of a predictions file that hold such values.
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>>;
}

/// How the mean of a softmax over Gaussian logits is approximated. With `k(v) = 1 / sqrt(1 + pi v / 8)`:
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Of two classes `sigmoid(k(v) d)`, with `d` the difference of both logits and `v` its variance: MacKay 1992. Of
    /// more classes as `ExtendedProbit`.
    Probit,
    /// `softmax(k(v_c) f_c)` with the variance of each logit: Gibbs 1998.
    ExtendedProbit,
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
    /// `sqrt(p_c) (e_c - p)` for each class: their products sum to `diag(p) - p p'`.
    fn fisher(&self, outputs: &[f64]) -> Vec<Vec<f64>> {
        let root = |class: usize| {
            let example = |row: &[f64]| {
                let p = softmax(row);
                let scale = p[class].sqrt();
                let of = |(k, p): (usize, &f64)| scale * (f64::from(u8::from(k == class)) - p);
                p.iter().enumerate().map(of).collect::<Vec<_>>()
            };
            outputs.chunks(self.classes).flat_map(example).collect()
        };
        (0..self.classes).map(root).collect()
    }
    fn drawn(&self, outputs: &[f64], stream: &Stream) -> Vec<f64> {
        let mut generator = stream.generator();
        let example = |row: &[f64]| {
            let mut p = softmax(row);
            let (u, mut sum) = (uniform(&mut generator), 0.0);
            let reached = |p: &f64| {
                sum += p;
                u < sum
            };
            let class = p.iter().position(reached).unwrap_or(self.classes - 1);
            p[class] -= 1.0;
            p
        };
        outputs.chunks(self.classes).flat_map(example).collect()
    }
    fn averaged(&self, outputs: &[f64], covariance: &[f64], link: Link) -> Vec<f64> {
        let k = |variance: f64| 1.0 / (1.0 + PI / 8.0 * variance).sqrt();
        let at = |i: usize, j: usize| covariance[i * self.classes + j];
        if self.classes == 2 && link == Link::Probit {
            let variance = at(0, 0) + at(1, 1) - 2.0 * at(0, 1);
            return outputs.iter().map(|f| k(variance) * f).collect();
        }
        outputs.iter().enumerate().map(|(c, f)| k(at(c, c)) * f).collect()
    }
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>> {
        vec![Array { name: "logits", values: Cow::Borrowed(values), shape: shape.to_vec() }]
    }
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let log_sum = log_sum(row);
    row.iter().map(|f| (f - log_sum).exp()).collect()
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
    /// `(1/s, 0)` and `(0, sqrt 2)`.
    fn fisher(&self, outputs: &[f64]) -> Vec<Vec<f64>> {
        let of_mean = outputs.chunks(2).flat_map(|row| [(-log_std(row[1])).exp(), 0.0]).collect();
        let of_log_std = outputs.chunks(2).flat_map(|_| [0.0, 2_f64.sqrt()]).collect();
        vec![of_mean, of_log_std]
    }
    fn drawn(&self, outputs: &[f64], stream: &Stream) -> Vec<f64> {
        let z = normals(outputs.len() / 2, stream);
        let rows = outputs.chunks(2).zip(z);
        rows.flat_map(|(row, z)| [-z * (-log_std(row[1])).exp(), 1.0 - z * z]).collect()
    }
    /// Exact for the mean: the variances add up. The uncertainty of the noise itself is left out.
    fn averaged(&self, outputs: &[f64], covariance: &[f64], _: Link) -> Vec<f64> {
        let variance = (2.0 * log_std(outputs[1])).exp() + covariance[0];
        vec![outputs[0], 0.5 * variance.ln()]
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
    fn fisher(&self, outputs: &[f64]) -> Vec<Vec<f64>> {
        Gaussian.fisher(outputs)
    }
    fn drawn(&self, outputs: &[f64], stream: &Stream) -> Vec<f64> {
        Gaussian.drawn(outputs, stream)
    }
    fn averaged(&self, outputs: &[f64], covariance: &[f64], link: Link) -> Vec<f64> {
        Gaussian.averaged(outputs, covariance, link)
    }
    fn network(&self, name: &str, input: Shape) -> Result<Network, String> {
        let mut network = networks::build(name, input, 1)?;
        network.then(NOISE, shared_noise());
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
    fn fisher(&self, outputs: &[f64]) -> Vec<Vec<f64>> {
        vec![vec![1.0 / self.std; outputs.len()]]
    }
    fn drawn(&self, outputs: &[f64], stream: &Stream) -> Vec<f64> {
        normals(outputs.len(), stream).into_iter().map(|z| z / self.std).collect()
    }
    fn averaged(&self, outputs: &[f64], covariance: &[f64], link: Link) -> Vec<f64> {
        Gaussian.averaged(&[outputs[0], self.std.ln()], covariance, link)
    }
    /// Their standard deviations differ from example to example.
    fn of_averages(&self) -> Option<Arc<dyn Likelihood>> {
        Some(Arc::new(Gaussian))
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
