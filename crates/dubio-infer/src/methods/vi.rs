//! `vi`: a factorised Gaussian by stochastic variational inference (Bayes by Backprop).

use dubio_nn::engine::{Point, Vector};
use dubio_random::stream::Stream;
use serde::{Deserialize, Serialize};

use super::drawn::{self, Drawn};
use super::sgd::{Descent, Sgd};
use super::{Card, Settings, at_least_one, fraction, positive};
use crate::memory::Memory;
use crate::optimisers::{Kind, Optimiser};
use crate::prior::{Gaussian, Prior, ScaleMixture};
use crate::rule::{Draws, Gradient, Keep, MiniBatch, Rule, Step, Steps};
use crate::schedule::Schedule;
use crate::wrong::Wrong;

/// Which prior.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// `Normal(0, prior_std^2)` on every parameter.
    Gaussian,
    /// A wide and a narrow Gaussian: [`ScaleMixture`].
    ScaleMixture,
}

/// Settings of `vi`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Vi {
    /// Those of the descent of the means.
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
    /// Networks drawn for the gradient of a step.
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
        citation: "Graves 2011; Blundell et al. 2015",
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
        let mut log_std = like.zeros(like.len());
        log_std.fill(self.initial_std.ln());
        let Sgd { descent, optimiser } = &self.sgd;
        Box::new(Variational {
            settings: self.clone(),
            log_std,
            of_means: Optimiser::new(*optimiser, descent.momentum, like),
            of_log_stds: Optimiser::new(Kind::Adam, 0.9, like),
        })
    }

    fn passes(&self) -> f64 {
        (self.sgd.descent.epochs * self.draws) as f64
    }

    fn samples(&self) -> usize {
        self.samples
    }

    fn vectors(&self) -> usize {
        11
    }
}

struct Variational<V> {
    settings: Vi,
    log_std: V,
    of_means: Optimiser<V>,
    of_log_stds: Optimiser<V>,
}

impl<V: Vector> Drawn for Variational<V> {
    type Vector = V;
    fn samples(&self) -> usize {
        self.settings.samples
    }
    /// `m + exp(r) z`, and `exp(r) z`.
    fn drawn(&self, mean: &V, stream: &Stream) -> (V, V) {
        let (mut z, mut away) = (mean.zeros(mean.len()), mean.zeros(mean.len()));
        z.add_noise(1.0, stream);
        away.add_times_exp(1.0, &z, &self.log_std);
        let mut theta = mean.clone();
        theta.axpy(1.0, &away);
        (theta, away)
    }
}

impl<V: Vector> Variational<V> {
    /// The prior's mixture, where it is one, whose wide part is the Gaussian prior.
    fn mixture(&self, prior: &dyn Prior<V>, ones: &V) -> Option<ScaleMixture> {
        let Vi { prior: shape, narrow_std, wide_fraction, .. } = self.settings;
        if shape == Shape::Gaussian {
            return None;
        }
        let mut precision = ones.zeros(ones.len());
        prior.add_gradient(1.0, 1.0, ones, &mut precision);
        let wide_std = precision.read(0..1)[0].powf(-0.5);
        Some(ScaleMixture { wide_std, narrow_std, wide_fraction })
    }
}

/// Weight of the divergence at a step, after a rise over so many epochs.
pub(super) fn kl_weight(weight: f64, warm_up: usize, at: &Step<'_>) -> f64 {
    let rise = warm_up * at.batches;
    let risen = if rise == 0 { 1.0 } else { ((at.number() + 1) as f64 / rise as f64).min(1.0) };
    weight * risen
}

impl<V: Vector> Rule<V> for Variational<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        Memory::none()
            .vector("log_std", &mut self.log_std)
            .and(self.of_means.memory().of(0))
            .and(self.of_log_stds.memory().of(1))
    }
    /// The log standard deviation of each parameter.
    fn factors(&mut self) -> Vec<V> {
        vec![self.log_std.clone()]
    }
}

impl<V: Vector> Steps<V> for Variational<V> {
    fn epochs(&self) -> usize {
        self.settings.sgd.descent.epochs
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        let Descent { lr, schedule, epochs, .. } = self.settings.sgd.descent;
        lr * schedule.fraction(at, epochs)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let Vi { draws, kl_weight: weight, kl_warm_up, .. } = self.settings;
        let (n, weight) = (at.examples as f64, kl_weight(weight, kl_warm_up, at));
        let rate = self.rate(at);
        let mean = &mut points[0];
        let zeros = || mean.theta.zeros(mean.theta.len());
        let [mut slope, mut of_log_std, mut ones, mut precision] = [(); 4].map(|()| zeros());
        ones.fill(1.0);
        // The gradient of a Gaussian prior where every parameter is 1 is its precision 1 / s^2.
        batch.prior().add_gradient(weight, n, &ones, &mut precision);
        let mixture = self.mixture(batch.prior(), &ones);
        // d theta / d r = exp(r) z.
        let draw = |mean: &V, stream: &Stream| self.drawn(mean, stream);
        let more = |theta: &V, gradient: &mut V| {
            if let Some(mixture) = mixture {
                mixture.add_gradient(weight, n, theta, gradient);
            }
        };
        let sums = [&mut slope, &mut of_log_std];
        drawn::gradients(mean, batch, (draws, at), draw, more, sums);
        let (slope, of_log_std) = (&mut slope, &mut of_log_std);
        // KL = E -log p(theta) - sum r, up to a constant; for a Gaussian prior sum (exp(2 r) + m^2) / (2 s^2) - r.
        of_log_std.axpy(-weight / n, &ones);
        if mixture.is_none() {
            batch.prior().add_gradient(weight, n, &mean.theta, slope);
            let mut variance = self.log_std.clone();
            variance.scale(2.0);
            of_log_std.add_times_exp(1.0, &precision, &variance);
        }
        // The prior is in both gradients already.
        let flat = Gaussian { precision: 0.0 };
        self.of_means.step(&mut mean.theta, Gradient::new(slope, &flat, at.examples), rate);
        let rate = self.settings.log_std_lr * rate / self.settings.sgd.descent.lr;
        let gradient = Gradient::new(of_log_std, &flat, at.examples);
        self.of_log_stds.step(&mut self.log_std, gradient, rate);
    }
    fn after_epoch(&mut self, _: usize, _: &[Point<V>]) -> Keep {
        Keep::Nothing
    }
}
