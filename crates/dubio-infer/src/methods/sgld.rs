//! `sgld`: stochastic gradient Langevin dynamics.

use dubio_nn::engine::{Point, Vector};
use serde::{Deserialize, Serialize};

use super::{Card, Settings, at_least_one, positive};
use crate::memory::Memory;
use crate::rule::{Keep, MiniBatch, Rule, Step, Steps};
use crate::schedule::Schedule;
use crate::wrong::Wrong;

/// Settings of a chain of mini-batch steps that samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Chain {
    /// Epochs before the first sample may be taken.
    pub burn_in: usize,
    /// Epochs before the first noise; 0 for noise from the start.
    pub noise_from: usize,
    /// Samples.
    pub samples: usize,
    /// Epochs from one sample to the next.
    pub thin: usize,
    /// First learning rate, which multiplies the gradient of `U / N`.
    pub lr: f64,
    /// How it falls.
    pub schedule: Schedule,
}

impl Default for Chain {
    fn default() -> Self {
        let schedule = Schedule::Cosine { end: 0.5 };
        Self { burn_in: 50, noise_from: 0, samples: 50, thin: 1, lr: 0.05, schedule }
    }
}

impl Chain {
    pub(super) fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("samples", self.samples), ("thin", self.thin)])?;
        positive(&[("lr", self.lr)])
    }

    /// Epochs until the last sample.
    pub(super) fn epochs(&self) -> usize {
        self.burn_in + self.samples * self.thin
    }

    pub(super) fn rate(&self, at: &Step<'_>) -> f64 {
        self.lr * self.schedule.fraction(at, self.epochs())
    }

    /// The temperature of an epoch: 0 before the noise begins.
    pub(super) fn temperature(&self, epoch: usize, temperature: f64) -> f64 {
        if epoch < self.noise_from { 0.0 } else { temperature }
    }

    /// Whether the epoch gives a sample at its end.
    pub(super) fn keep(&self, epoch: usize) -> Keep {
        let after = epoch + 1;
        Keep::when(epoch >= self.burn_in && (after - self.burn_in).is_multiple_of(self.thin))
    }
}

/// Settings of `sgld`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sgld {
    /// Its chain.
    #[serde(flatten)]
    pub chain: Chain,
    /// 1 for the posterior; below 1 for a cold posterior, `p^(1/T)`.
    pub temperature: f64,
}

impl Default for Sgld {
    fn default() -> Self {
        Self { chain: Chain::default(), temperature: 1.0 }
    }
}

impl Settings for Sgld {
    const CARD: Card = Card {
        name: "sgld",
        summary: "Stochastic gradient Langevin dynamics: SGD plus the noise that makes it sample the posterior.",
        rule: "theta -= lr grad U / N; theta += Normal(0, 2 lr T / N)",
        citation: "Welling and Teh 2011",
    };
    const PRIOR_STD: Option<f64> = Some(1.0);
    const IS_CHAIN: bool = true;

    fn check(&self) -> Result<(), Wrong> {
        self.chain.check()?;
        at_least_cold(self.temperature)
    }

    fn rule<V: Vector>(&self, _: &V) -> Box<dyn Rule<V>> {
        Box::new(Langevin(self.clone()))
    }

    fn passes(&self) -> f64 {
        self.chain.epochs() as f64
    }

    fn samples(&self) -> usize {
        self.chain.samples
    }
}

pub(super) fn at_least_cold(temperature: f64) -> Result<(), Wrong> {
    if temperature >= 0.0 && temperature.is_finite() {
        return Ok(());
    }
    let what = format!("`temperature` must be at least 0, got {temperature}; leave it out for 1");
    Err(Wrong::value(&["temperature"], what))
}

/// A chain of mini-batch steps over time: how fast, how warm, and which of its epochs give samples.
pub(super) trait Pace: Send {
    fn epochs(&self) -> usize;
    fn rate(&self, at: &Step<'_>) -> f64;
    /// The temperature of an epoch; 0 where there is no noise.
    fn temperature(&self, epoch: usize) -> f64;
    fn keep(&self, epoch: usize) -> Keep;
}

impl Pace for Sgld {
    fn epochs(&self) -> usize {
        self.chain.epochs()
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.chain.rate(at)
    }
    fn temperature(&self, epoch: usize) -> f64 {
        self.chain.temperature(epoch, self.temperature)
    }
    fn keep(&self, epoch: usize) -> Keep {
        self.chain.keep(epoch)
    }
}

/// Langevin dynamics; at temperature 0, plain descent.
pub(super) struct Langevin<P>(pub(super) P);

impl<V: Vector, P: Pace> Rule<V> for Langevin<P> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        Memory::none()
    }
}

impl<V: Vector, P: Pace> Steps<V> for Langevin<P> {
    fn epochs(&self) -> usize {
        self.0.epochs()
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.0.rate(at)
    }
    fn is_noisy(&self, at: &Step<'_>) -> bool {
        self.0.temperature(at.epoch) > 0.0
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let (rate, temperature) = (self.0.rate(at), self.0.temperature(at.epoch));
        let gradient = batch.at(&mut points[0]);
        let theta = &mut points[0].theta;
        let slope = gradient.total(theta);
        if temperature > 0.0 {
            // The noise of the step divided by its rate: summed with the gradient first, it is not rounded to the last
            // digit of theta.
            let variance = 2.0 * temperature / (rate * at.examples as f64);
            slope.add_noise(variance.sqrt(), &at.noise());
        }
        theta.axpy(-rate, slope);
    }
    fn after_epoch(&mut self, epoch: usize, _: &[Point<V>]) -> Keep {
        self.0.keep(epoch)
    }
}
