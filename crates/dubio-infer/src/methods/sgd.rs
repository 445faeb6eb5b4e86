//! `sgd`: the most probable parameters, by stochastic gradient descent.

use dubio_nn::engine::{Point, Vector};
use serde::{Deserialize, Serialize};

use super::{Card, Settings, at_least_one, positive, share};
use crate::memory::Memory;
use crate::optimisers::{Kind, Optimiser};
use crate::rule::{Gradient, Keep, MiniBatch, Rule, Step, Steps};
use crate::schedule::Schedule;
use crate::wrong::Wrong;

/// Settings of `sgd`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sgd {
    /// Passes over the training data.
    pub epochs: usize,
    /// First learning rate.
    pub lr: f64,
    /// How it falls.
    pub schedule: Schedule,
    /// Share of the last step in the next.
    pub momentum: f64,
    /// `sgd`, `nesterov`, `adam` or `adamw`.
    pub optimiser: Kind,
}

impl Default for Sgd {
    fn default() -> Self {
        Self {
            epochs: 50,
            lr: 0.05,
            schedule: Schedule::FlatThenLinear { end: 0.01 },
            momentum: 0.9,
            optimiser: Kind::Sgd,
        }
    }
}

impl Settings for Sgd {
    const CARD: Card = Card {
        name: "sgd",
        summary: "One network at the most probable parameters, found by stochastic gradient descent.",
        rule: "v = m v + grad U / N; theta -= lr v",
        citation: "Robbins and Monro 1951; schedule of Ashukha et al. 2020, eq. 10",
    };

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("epochs", self.epochs)])?;
        positive(&[("lr", self.lr)])?;
        share("momentum", self.momentum)
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        Box::new(Descent::new(self, like))
    }

    fn passes(&self) -> f64 {
        self.epochs as f64
    }
}

/// Descent by an optimiser; the last point is the sample. Other methods begin with it.
pub(super) struct Descent<V> {
    settings: Sgd,
    optimiser: Optimiser<V>,
}

impl<V: Vector> Descent<V> {
    pub(super) fn new(settings: &Sgd, like: &V) -> Self {
        let optimiser = Optimiser::new(settings.optimiser, settings.momentum, like);
        Self { settings: settings.clone(), optimiser }
    }

    /// A step at a learning rate of the caller's.
    pub(super) fn step_at(&mut self, theta: &mut V, gradient: Gradient<'_, V>, rate: f64) {
        self.optimiser.step(theta, gradient, rate);
    }

    /// What it carries from one step to the next.
    pub(super) fn carried(&mut self) -> Memory<'_, V> {
        self.optimiser.memory()
    }
}

impl<V: Vector> Rule<V> for Descent<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        self.carried()
    }
}

impl<V: Vector> Steps<V> for Descent<V> {
    fn epochs(&self) -> usize {
        self.settings.epochs
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.settings.lr * self.settings.schedule.share(at, self.settings.epochs)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let gradient = batch.at(&mut points[0]);
        self.step_at(&mut points[0].theta, gradient, self.rate(at));
    }
    fn after_epoch(&mut self, epoch: usize, _: &[Point<V>]) -> Keep {
        Keep::when(epoch + 1 == self.settings.epochs)
    }
}
