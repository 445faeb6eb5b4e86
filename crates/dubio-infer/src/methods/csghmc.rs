//! `csghmc`: Hamiltonian dynamics with friction in cycles.

use dubio_nn::engine::{Point, Vector};
use serde::{Deserialize, Serialize};

use super::csgld::Cycle;
use super::sghmc::{self, friction};
use super::sgld::at_least_cold;
use super::{Card, Settings, positive};
use crate::memory::Memory;
use crate::rule::{Keep, MiniBatch, Rule, Step, Steps};
use crate::wrong::Wrong;

/// Settings of `csghmc`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Csghmc {
    /// Its cycles.
    #[serde(flatten)]
    pub cycle: Cycle,
    /// Learning rate at the start of a cycle.
    pub lr: f64,
    /// Fraction of the velocity that a step loses; 1 less the momentum.
    pub friction: f64,
    /// 1 for the posterior; below 1 for one that is colder, `p^(1/T)`.
    pub temperature: f64,
}

impl Default for Csghmc {
    fn default() -> Self {
        Self { cycle: Cycle::default(), lr: 0.1, friction: 0.1, temperature: 1.0 }
    }
}

impl Settings for Csghmc {
    const CARD: Card = Card {
        name: "csghmc",
        summary: "Hamiltonian dynamics with friction in cycles: explore without noise, then sample with it.",
        rule: "sghmc at lr/2 (cos(pi mod(t - 1, c) / c) + 1), noise only in the last epochs of a cycle",
        citation: "Zhang et al. 2020",
    };

    fn check(&self) -> Result<(), Wrong> {
        positive(&[("lr", self.lr)])?;
        at_least_cold(self.temperature)?;
        friction(self.friction)?;
        self.cycle.check()
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        Box::new(Flow { settings: self.clone(), velocity: like.zeros(like.len()) })
    }

    fn passes(&self) -> f64 {
        self.cycle.epochs() as f64
    }

    fn samples(&self) -> usize {
        self.cycle.samples
    }
}

struct Flow<V> {
    settings: Csghmc,
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
        self.settings.cycle.epochs()
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.settings.lr * self.settings.cycle.fraction(at)
    }
    fn is_noisy(&self, at: &Step<'_>) -> bool {
        self.settings.cycle.temperature(at.epoch, self.settings.temperature) > 0.0
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let Csghmc { friction, temperature, .. } = self.settings;
        let temperature = self.settings.cycle.temperature(at.epoch, temperature);
        let (rate, gradient) = (self.rate(at), batch.at(&mut points[0]));
        let theta = &mut points[0].theta;
        sghmc::step(theta, &mut self.velocity, gradient, at, rate, friction, temperature);
    }
    fn after_epoch(&mut self, epoch: usize, _: &[Point<V>]) -> Keep {
        self.settings.cycle.keep(epoch)
    }
}
