//! `vi`: a factorised Gaussian by stochastic variational inference (Bayes by Backprop).

mod variational;

use dubio_nn::engine::Vector;
use dubio_nn::network::Perturbation;
use serde::{Deserialize, Serialize};

use super::sgd::{Descent, Sgd};
use super::{Card, Settings, at_least_one, fraction, positive};
use crate::optimisers::Kind;
use crate::rule::Rule;
use crate::schedule::Schedule;
use crate::wrong::Wrong;

use variational::Variational;
pub(super) use variational::kl_weight;

/// Which prior.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// `Normal(0, prior_std^2)` on every parameter.
    Gaussian,
    /// A wide and a narrow Gaussian: [`ScaleMixture`](crate::prior::ScaleMixture).
    ScaleMixture,
}

/// What is drawn for the gradient of a step. For networks of linear layers, the gradients have the same mean under all
/// of them; they differ in variance and cost. Posterior samples are drawn weights in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// The weights, once for the whole mini-batch, whose examples then err together: Blundell et al. 2015.
    Weights,
    /// The outputs of linear and convolutional layers, for every example: the local reparameterisation, Kingma et al.
    /// 2015. In a convolution the noise of places is independent, though they share weights: an approximation.
    Local,
    /// The weights once, with random signs for every example: flipout, Wen et al. 2018. Exact in convolutions too.
    Flipout,
}

impl Estimator {
    /// How layers are perturbed; `None` where the weights of the whole network are drawn.
    pub(super) fn perturbation(self) -> Option<Perturbation> {
        match self {
            Self::Weights => None,
            Self::Local => Some(Perturbation::Local),
            Self::Flipout => Some(Perturbation::Flipout),
        }
    }
}

/// Settings of `vi`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Vi {
    /// The settings of the descent of the means.
    #[serde(flatten)]
    pub sgd: Sgd,
    /// First standard deviation of every parameter.
    pub initial_std: f64,
    /// Learning rate of the log standard deviations, which an Adam of their own moves, with the same schedule.
    pub log_std_lr: f64,
    /// Weight of the divergence from the prior; 1 for the evidence lower bound.
    pub kl_weight: f64,
    /// Epochs in which that weight rises from 0, step by step.
    pub kl_warm_up: usize,
    /// `gaussian` or `scale-mixture`.
    pub prior: Shape,
    /// Standard deviation of the narrow part of a scale-mixture prior; the wide part has `prior_std`.
    pub narrow_std: f64,
    /// Fraction of the wide part of a scale-mixture prior.
    pub wide_fraction: f64,
    /// `weights`, `local` or `flipout`: what is drawn for the gradient of a step.
    pub estimator: Estimator,
    /// Draws for the gradient of a step.
    pub draws: usize,
    /// Samples drawn from the Gaussian after training.
    pub samples: usize,
}

impl Default for Vi {
    fn default() -> Self {
        let schedule = Schedule::Cosine { end: 0.0 };
        let descent = Descent { lr: 0.005, schedule, ..Descent::default() };
        Self {
            sgd: Sgd { descent, optimiser: Kind::Adam },
            initial_std: 0.02,
            log_std_lr: 0.02,
            kl_weight: 1.0,
            kl_warm_up: 0,
            prior: Shape::Gaussian,
            narrow_std: 0.0025,
            wide_fraction: 0.5,
            estimator: Estimator::Weights,
            draws: 1,
            samples: 30,
        }
    }
}

impl Settings for Vi {
    const CARD: Card = Card {
        name: "vi",
        summary: "A Gaussian with a mean and a variance for each parameter that is closest to the posterior, by descent.",
        rule: "theta = m + exp(r) z; descent on E loss + w KL(q, prior) / N by m and, with an optimiser of its own, by r; prior Normal(0, s^2), or the scale mixture f Normal(0, s^2) + (1 - f) Normal(0, narrow_std^2)",
        citation: "Graves 2011; Blundell et al. 2015; Kingma et al. 2015; Wen et al. 2018",
    };
    const PRIOR_STD: Option<f64> = Some(1.0);

    fn check(&self) -> Result<(), Wrong> {
        self.sgd.check()?;
        at_least_one(&[("draws", self.draws), ("samples", self.samples)])?;
        positive(&[("initial_std", self.initial_std), ("log_std_lr", self.log_std_lr)])?;
        positive(&[("narrow_std", self.narrow_std), ("wide_fraction", self.wide_fraction)])?;
        fraction("wide_fraction", self.wide_fraction)?;
        if self.kl_weight >= 0.0 && self.kl_weight.is_finite() {
            return Ok(());
        }
        let what = format!("`kl_weight` must be at least 0, got {}", self.kl_weight);
        Err(Wrong::value(&["kl_weight"], what))
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        Box::new(Variational::new(self, like))
    }

    fn passes(&self) -> f64 {
        // Perturbed layers are run twice: by their means, and by variances or shifts.
        let runs = if self.estimator == Estimator::Weights { 1 } else { 2 };
        (self.sgd.descent.epochs * self.draws * runs) as f64
    }

    fn samples(&self) -> usize {
        self.samples
    }

    fn vectors(&self) -> usize {
        // The vector of a network with perturbed layers and its gradient are twice as long, and their halves are kept.
        if self.estimator == Estimator::Weights { 11 } else { 21 }
    }
}
