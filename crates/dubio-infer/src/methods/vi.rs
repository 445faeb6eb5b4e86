//! `vi`: a factorised Gaussian by stochastic variational inference (Bayes by Backprop).

use dubio_nn::engine::{Point, Vector};
use dubio_random::stream::Stream;
use serde::{Deserialize, Serialize};

use super::sgd::{Descent, Sgd};
use super::{Card, Settings, at_least_one, positive};
use crate::error::Error;
use crate::memory::Memory;
use crate::optimisers::{Kind, Optimiser};
use crate::prior::Gaussian;
use crate::rule::{Draws, Gradient, Keep, MiniBatch, Rule, Step, Steps};
use crate::schedule::Schedule;
use crate::target::Target;
use crate::wrong::Wrong;

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
            draws: 1,
            samples: 30,
        }
    }
}

impl Settings for Vi {
    const CARD: Card = Card {
        name: "vi",
        summary: "A Gaussian with a mean and a variance for each parameter that is closest to the posterior, by descent.",
        rule: "theta = m + exp(r) z; descent on E loss + w KL(q, prior) / N by m and, with an optimiser of its own, by r",
        citation: "Graves 2011; Blundell et al. 2015",
    };
    const PRIOR_STD: Option<f64> = Some(1.0);

    fn check(&self) -> Result<(), Wrong> {
        self.sgd.check()?;
        at_least_one(&[("draws", self.draws), ("samples", self.samples)])?;
        positive(&[("initial_std", self.initial_std), ("log_std_lr", self.log_std_lr)])?;
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
            room: [(); 4].map(|()| like.zeros(like.len())),
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
    room: [V; 4],
}

impl<V: Vector> Variational<V> {
    /// `m + exp(r) z`, and `exp(r) z`.
    fn drawn(&self, mean: &V, stream: &Stream) -> (V, V) {
        let (mut z, mut away) = (mean.zeros(mean.len()), mean.zeros(mean.len()));
        z.add_noise(1.0, stream);
        away.add_times_exp(1.0, &z, &self.log_std);
        let mut theta = mean.clone();
        theta.axpy(1.0, &away);
        (theta, away)
    }

    /// Weight of the divergence at a step.
    fn weight(&self, at: &Step<'_>) -> f64 {
        let rise = self.settings.kl_warm_up * at.batches;
        let risen = if rise == 0 { 1.0 } else { ((at.number() + 1) as f64 / rise as f64).min(1.0) };
        self.settings.kl_weight * risen
    }
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
        let (n, weight, draws) = (at.examples as f64, self.weight(at), self.settings.draws);
        let rate = self.rate(at);
        let mean = &mut points[0];
        self.room.iter_mut().for_each(|room| room.fill(0.0));
        for draw in 0..draws {
            let (theta, away) = self.drawn(&mean.theta, &at.noise().nth(draw));
            let mut there = Point { theta, statistics: mean.statistics.clone() };
            let gradient = batch.at(&mut there);
            let [slope, of_log_std, ..] = &mut self.room;
            slope.axpy(1.0 / draws as f64, gradient.likelihood);
            // d theta / d r = exp(r) z.
            of_log_std.add_product(1.0 / draws as f64, gradient.likelihood, &away);
            mean.statistics = there.statistics;
        }
        let [slope, of_log_std, ones, precision] = &mut self.room;
        // KL = sum (exp(2 r) + m^2) / (2 s^2) - r, up to a constant; the gradient of a Gaussian prior where every
        // parameter is 1 is its precision 1 / s^2.
        batch.prior().add_gradient(weight, n, &mean.theta, slope);
        ones.fill(1.0);
        batch.prior().add_gradient(weight, n, ones, precision);
        of_log_std.axpy(-weight / n, ones);
        let mut variance = self.log_std.clone();
        variance.scale(2.0);
        of_log_std.add_times_exp(1.0, precision, &variance);
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

impl<V: Vector> Draws<V> for Variational<V> {
    fn count(&self) -> usize {
        self.settings.samples
    }
    fn draw(
        &mut self,
        points: &mut [Point<V>],
        _: &mut dyn Target<Vector = V>,
        _: usize,
        stream: &Stream,
    ) -> Result<Vec<V>, Error> {
        Ok(vec![self.drawn(&points[0].theta, stream).0])
    }
}
