//! `sgld`: stochastic gradient Langevin dynamics.

use dubio_nn::engine::{Point, Vector};
use serde::{Deserialize, Serialize};

use super::{Card, Settings, at_least_one, positive};
use crate::memory::Memory;
use crate::rule::{Gradient, Keep, MiniBatch, Rule, Step, Steps};
use crate::schedule::Schedule;
use crate::wrong::Wrong;

/// Settings of `sgld`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sgld {
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
    /// 1 for the posterior; below 1 for one that is colder, `p^(1/T)`.
    pub temperature: f64,
}

impl Default for Sgld {
    fn default() -> Self {
        Self {
            burn_in: 50,
            noise_from: 0,
            samples: 50,
            thin: 1,
            lr: 0.05,
            schedule: Schedule::Cosine { end: 0.5 },
            temperature: 1.0,
        }
    }
}

impl Settings for Sgld {
    const CARD: Card = Card {
        name: "sgld",
        summary: "Langevin dynamics on mini-batch gradients: descent with just the noise that samples.",
        rule: "theta -= lr grad U / N; theta += Normal(0, 2 lr T / N)",
        citation: "Welling and Teh 2011",
    };

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("samples", self.samples), ("thin", self.thin)])?;
        positive(&[("lr", self.lr)])?;
        at_least_cold(self.temperature)
    }

    fn rule<V: Vector>(&self, _: &V) -> Box<dyn Rule<V>> {
        Box::new(self.clone())
    }

    fn passes(&self) -> f64 {
        epochs(self.burn_in, self.samples, self.thin) as f64
    }

    fn samples(&self) -> usize {
        self.samples
    }
}

pub(super) fn at_least_cold(temperature: f64) -> Result<(), Wrong> {
    if temperature >= 0.0 && temperature.is_finite() {
        return Ok(());
    }
    let what = format!("`temperature` must be at least 0, got {temperature}; leave it out for 1");
    Err(Wrong::value(&["temperature"], what))
}

/// One step of Langevin dynamics, at temperature 0 one of plain descent.
pub(super) fn step<V: Vector>(
    theta: &mut V,
    gradient: Gradient<'_, V>,
    at: &Step<'_>,
    rate: f64,
    temperature: f64,
) {
    gradient.descend(rate, theta);
    if temperature > 0.0 {
        let variance = 2.0 * rate * temperature / at.examples as f64;
        theta.add_noise(variance.sqrt(), &at.noise());
    }
}

/// Epochs until the last sample, and whether the one that ends with `epoch` gives one.
pub(super) fn epochs(burn_in: usize, samples: usize, thin: usize) -> usize {
    burn_in + samples * thin
}

pub(super) fn samples_after(epoch: usize, burn_in: usize, thin: usize) -> Keep {
    Keep::when(epoch >= burn_in && (epoch + 1 - burn_in).is_multiple_of(thin))
}

impl<V: Vector> Rule<V> for Sgld {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        Memory::none()
    }
}

impl<V: Vector> Steps<V> for Sgld {
    fn epochs(&self) -> usize {
        epochs(self.burn_in, self.samples, self.thin)
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.lr * self.schedule.share(at, Steps::<V>::epochs(self))
    }
    fn is_noisy(&self, at: &Step<'_>) -> bool {
        at.epoch >= self.noise_from && self.temperature > 0.0
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let temperature = if at.epoch < self.noise_from { 0.0 } else { self.temperature };
        let gradient = batch.at(&mut points[0]);
        step(&mut points[0].theta, gradient, at, Steps::<V>::rate(self, at), temperature);
    }
    fn after_epoch(&mut self, epoch: usize, _: &[Point<V>]) -> Keep {
        samples_after(epoch, self.burn_in, self.thin)
    }
}
