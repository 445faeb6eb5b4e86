//! `sghmc`: stochastic gradient Hamiltonian Monte Carlo.

use dubio_nn::engine::{Point, Vector};
use serde::{Deserialize, Serialize};

use super::sgld::{Chain, Pace, Sgld, at_least_cold};
use super::{Card, Settings};
use crate::memory::Memory;
use crate::rule::{Keep, MiniBatch, Rule, Step, Steps};
use crate::wrong::Wrong;

/// Settings of `sghmc`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sghmc {
    /// Its chain.
    #[serde(flatten)]
    pub chain: Chain,
    /// Fraction of the velocity that a step loses; 1 minus the momentum.
    pub friction: f64,
    /// 1 for the posterior; below 1 for a cold posterior, `p^(1/T)`.
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
        summary: "Stochastic gradient Hamiltonian Monte Carlo: momentum with friction and matching noise.",
        rule: "v = (1 - a) v - lr grad U / N + Normal(0, 2 a lr T / N); theta += v",
        citation: "Chen et al. 2014",
    };
    const PRIOR_STD: Option<f64> = Some(1.0);
    const IS_CHAIN: bool = true;

    fn check(&self) -> Result<(), Wrong> {
        self.chain.check()?;
        at_least_cold(self.temperature)?;
        friction(self.friction)
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let pace = Sgld { chain: self.chain.clone(), temperature: self.temperature };
        Box::new(Flow::new(pace, self.friction, like))
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

/// Hamiltonian dynamics with friction; at temperature 0, descent with momentum.
pub(super) struct Flow<P, V> {
    pace: P,
    friction: f64,
    velocity: V,
}

impl<P, V: Vector> Flow<P, V> {
    pub(super) fn new(pace: P, friction: f64, like: &V) -> Self {
        Self { pace, friction, velocity: like.zeros(like.len()) }
    }
}

impl<V: Vector, P: Pace> Rule<V> for Flow<P, V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        Memory::none().vector("velocity", &mut self.velocity)
    }
}

impl<V: Vector, P: Pace> Steps<V> for Flow<P, V> {
    fn epochs(&self) -> usize {
        self.pace.epochs()
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.pace.rate(at)
    }
    fn is_noisy(&self, at: &Step<'_>) -> bool {
        self.pace.temperature(at.epoch) > 0.0
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let Self { pace, friction, velocity } = self;
        let (rate, temperature) = (pace.rate(at), pace.temperature(at.epoch));
        let gradient = batch.at(&mut points[0]);
        let theta = &mut points[0].theta;
        velocity.combine(1.0 - *friction, -rate, gradient.total(theta));
        if temperature > 0.0 {
            let variance = 2.0 * *friction * rate * temperature / at.examples as f64;
            velocity.add_noise(variance.sqrt(), &at.noise());
        }
        theta.axpy(1.0, velocity);
    }
    fn after_epoch(&mut self, epoch: usize, _: &[Point<V>]) -> Keep {
        self.pace.keep(epoch)
    }
}
