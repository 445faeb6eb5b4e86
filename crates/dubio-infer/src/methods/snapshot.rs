//! `snapshot`: one network at the end of each cycle of the learning rate (SSE).

use dubio_nn::engine::{Point, Vector};
use serde::{Deserialize, Serialize};

use super::{Card, Settings, at_least_one, fraction, positive};
use crate::memory::Memory;
use crate::optimisers::{Kind, Optimiser};
use crate::rule::{Keep, MiniBatch, Rule, Step, Steps};
use crate::schedule::cosine_cycle;
use crate::wrong::Wrong;

/// Settings of `snapshot`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Snapshot {
    /// Cycles, each of which gives a sample.
    pub samples: usize,
    /// Epochs of a cycle.
    pub cycle_epochs: usize,
    /// Learning rate at the start of a cycle.
    pub lr: f64,
    /// Fraction of the last step in the next.
    pub momentum: f64,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self { samples: 5, cycle_epochs: 40, lr: 0.2, momentum: 0.9 }
    }
}

impl Settings for Snapshot {
    const CARD: Card = Card {
        name: "snapshot",
        summary: "One network from the end of each cosine learning-rate cycle.",
        rule: "sgd at lr/2 (cos(pi mod(t - 1, c) / c) + 1)",
        citation: "Huang et al. 2017; Ashukha et al. 2020, eq. 16",
    };

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("samples", self.samples), ("cycle_epochs", self.cycle_epochs)])?;
        positive(&[("lr", self.lr)])?;
        fraction("momentum", self.momentum)
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let optimiser = Optimiser::new(Kind::Sgd, self.momentum, like);
        Box::new(Cycles { settings: self.clone(), optimiser })
    }

    fn passes(&self) -> f64 {
        (self.samples * self.cycle_epochs) as f64
    }

    fn samples(&self) -> usize {
        self.samples
    }
}

struct Cycles<V> {
    settings: Snapshot,
    optimiser: Optimiser<V>,
}

impl<V: Vector> Rule<V> for Cycles<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        self.optimiser.memory()
    }
}

impl<V: Vector> Steps<V> for Cycles<V> {
    fn epochs(&self) -> usize {
        self.settings.samples * self.settings.cycle_epochs
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.settings.lr * cosine_cycle(at.number(), self.settings.cycle_epochs * at.batches)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let (rate, gradient) = (self.rate(at), batch.at(&mut points[0]));
        self.optimiser.step(&mut points[0].theta, gradient, rate);
    }
    fn after_epoch(&mut self, epoch: usize, _: &[Point<V>]) -> Keep {
        Keep::when((epoch + 1).is_multiple_of(self.settings.cycle_epochs))
    }
}
