//! `sghmc`: stochastic gradient Hamiltonian Monte Carlo.

use dubio_nn::engine::{Point, Vector};
use serde::{Deserialize, Serialize};

use super::sgld::{Chain, at_least_cold};
use super::{Card, Settings};
use crate::memory::Memory;
use crate::rule::{Gradient, Keep, MiniBatch, Rule, Step, Steps};
use crate::wrong::Wrong;

/// Settings of `sghmc`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sghmc {
    /// Its chain.
    #[serde(flatten)]
    pub chain: Chain,
    /// Fraction of the velocity that a step loses; 1 less the momentum.
    pub friction: f64,
    /// 1 for the posterior; below 1 for one that is colder, `p^(1/T)`.
    pub temperature: f64,
}

impl Default for Sghmc {
    fn default() -> Self {
        let chain = Chain { lr: 0.01, ..Chain::default() };
        Self { chain, friction: 0.1, temperature: 1.0 }
    }
}

impl Settings for Sghmc {
    const CARD: Card = Card {
        name: "sghmc",
        summary: "Hamiltonian dynamics with friction on mini-batch gradients, and the noise that samples.",
        rule: "v = (1 - a) v - lr grad U / N + Normal(0, 2 a lr T / N); theta += v",
        citation: "Chen et al. 2014",
    };

    fn check(&self) -> Result<(), Wrong> {
        self.chain.check()?;
        at_least_cold(self.temperature)?;
        friction(self.friction)
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        Box::new(Flow { settings: self.clone(), velocity: like.zeros(like.len()) })
    }

    fn passes(&self) -> f64 {
        self.chain.epochs() as f64
    }

    fn samples(&self) -> usize {
        self.chain.samples
    }
}

pub(super) fn friction(friction: f64) -> Result<(), Wrong> {
    if friction > 0.0 && friction <= 1.0 {
        return Ok(());
    }
    let what = format!("`friction` must be above 0 and at most 1, got {friction}");
    Err(Wrong::value(&["friction"], what))
}

/// One step, at temperature 0 one of descent with momentum.
pub(super) fn step<V: Vector>(
    theta: &mut V,
    velocity: &mut V,
    gradient: Gradient<'_, V>,
    at: &Step<'_>,
    rate: f64,
    friction: f64,
    temperature: f64,
) {
    velocity.combine(1.0 - friction, -rate, gradient.likelihood);
    if !gradient.is_flat() {
        gradient.add_prior(-rate, theta, velocity);
    }
    if temperature > 0.0 {
        let variance = 2.0 * friction * rate * temperature / at.examples as f64;
        velocity.add_noise(variance.sqrt(), &at.noise());
    }
    theta.axpy(1.0, velocity);
}

struct Flow<V> {
    settings: Sghmc,
    velocity: V,
}

impl<V: Vector> Rule<V> for Flow<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        Memory::none().vector("velocity", &mut self.velocity)
    }
}

impl<V: Vector> Steps<V> for Flow<V> {
    fn epochs(&self) -> usize {
        self.settings.chain.epochs()
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.settings.chain.rate(at)
    }
    fn is_noisy(&self, at: &Step<'_>) -> bool {
        self.settings.chain.temperature(at.epoch, self.settings.temperature) > 0.0
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let Sghmc { friction, temperature, .. } = self.settings;
        let temperature = self.settings.chain.temperature(at.epoch, temperature);
        let (rate, gradient) = (self.rate(at), batch.at(&mut points[0]));
        let theta = &mut points[0].theta;
        step(theta, &mut self.velocity, gradient, at, rate, friction, temperature);
    }
    fn after_epoch(&mut self, epoch: usize, _: &[Point<V>]) -> Keep {
        self.settings.chain.keep(epoch)
    }
}
