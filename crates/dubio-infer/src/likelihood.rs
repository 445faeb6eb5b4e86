//! Likelihoods: what the outputs of a network stand for.

mod categorical;
pub mod flow;
mod gaussian;
pub mod pinball;
mod residual;
mod taught;

use std::borrow::Cow;
use std::sync::Arc;

use dubio_data::dataset::Answers;
use dubio_data::transforms::standardise_targets::StandardiseTargets;
use dubio_nn::layer::Layer;
use dubio_nn::loss::Loss;
use dubio_nn::network::Network;
use dubio_nn::networks;
use dubio_nn::parameter::Initial;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;

pub use self::categorical::Categorical;
pub use self::gaussian::{FixedNoise, Gaussian, SharedNoise};
pub use self::taught::Taught;
use crate::error::Error;
use crate::noise::Noise;
use crate::scaling::Scaling;

/// Name of the layer that holds a noise shared by all examples.
pub(crate) const NOISE: &str = "noise";

/// One log standard deviation for all examples, 0 at the start.
pub(crate) fn shared_noise() -> Layer {
    Layer::Append { numbers: 1, initial: Initial::Constant(0.0) }
}

/// The likelihood that goes with these answers.
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

/// A loss that is the negative logarithm of a density, and the predictions that outputs stand for.
pub trait Likelihood: Loss {
    /// Whether gradients can be arbitrarily large, so that steps have to be clipped: the gradient of a Gaussian grows
    /// with one over its variance, that of a softmax is bounded.
    fn is_steep(&self) -> bool {
        false
    }
    /// The loss of a network that guesses; `None` where that depends on the data.
    fn guessing(&self) -> Option<f64> {
        None
    }
    /// How many uniform random numbers, standardised and drawn anew at every step, the network reads after each
    /// example's own inputs.
    fn random_inputs(&self) -> usize {
        0
    }
    /// The named network with the outputs that this likelihood reads; an error says why there is none.
    fn network(&self, name: &str, input: Shape) -> Result<Network, String> {
        networks::build(name, input, self.outputs())
    }
    /// What samples predict, `[samples, examples, numbers]`, from their outputs: logits, or mean and standard
    /// deviation in the unit of the targets.
    fn predictions(&self, outputs: Vec<f32>, _scaling: &Scaling) -> Vec<f32> {
        outputs
    }
    /// Its curvature at the outputs; `None` for a likelihood that comes with a method which needs none.
    fn curved(&self) -> Option<&dyn Curved> {
        None
    }
    /// How a network learns what another predicts; `None` where the outputs do not determine the whole prediction.
    fn taught(&self) -> Option<&dyn Taught> {
        None
    }
    /// The arrays of a predictions file that hold these values.
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>>;
}

/// The curvature of a likelihood at the outputs, and its mean over Gaussian outputs.
pub trait Curved {
    /// Roots of the Fisher information at the outputs `f`, each `[examples, outputs]`: for every example
    /// `sum_r f_r f_r' = E_y grad log p(y | f) grad log p(y | f)'`.
    fn fisher(&self, outputs: &[f64]) -> Vec<Vec<f64>>;
    /// Gradients of `-log p(y | f)` at the outputs, for each example with a `y` drawn from `p(y | f)`.
    fn drawn(&self, outputs: &[f64], stream: &Stream) -> Vec<f64>;
    /// Outputs that stand for the mean of `p(y | g)` over `g ~ Normal(f, covariance)`, for one example.
    fn averaged(&self, outputs: &[f64], covariance: &[f64], link: Link) -> Vec<f64>;
    /// The likelihood that reads what [`Self::averaged`] gives, if it is a different one.
    fn of_averages(&self) -> Option<Arc<dyn Likelihood>> {
        None
    }
}

/// How the mean of a softmax over Gaussian logits is approximated. With `k(v) = 1 / sqrt(1 + pi v / 8)`:
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// For two classes `sigmoid(k(v) d)`, with `d` the difference of the logits and `v` its variance: MacKay 1992. For
    /// more, the same as `ExtendedProbit`.
    Probit,
    /// `softmax(k(v_c) f_c)` with the variance of each logit: Gibbs 1998.
    ExtendedProbit,
    /// `p_c` in proportion to `1 / (1 + sum_{j != c} exp(-k(v_cj) (f_c - f_j)))`, with `v_cj` the variance of the
    /// difference of two logits: Lu et al. 2020, which is MacKay's for two classes. Variance that all logits share
    /// changes no probability and is left out.
    MeanField,
}

/// An array of a predictions file.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<'a> {
    /// Its name there.
    pub name: &'static str,
    /// Its numbers, the last axis running fastest.
    pub values: Cow<'a, [f32]>,
    /// Its axes.
    pub shape: Vec<usize>,
}
