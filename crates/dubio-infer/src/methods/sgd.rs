//! `sgd`: the most probable parameters, by stochastic gradient descent.

use dubio_nn::engine::{Point, Vector};
use serde::{Deserialize, Serialize};

use super::{Card, Settings, at_least_one, fraction, positive};
use crate::memory::Memory;
use crate::optimisers::{Kind, Optimiser};
use crate::rule::{Gradient, Keep, MiniBatch, Rule, Step, Steps};
use crate::schedule::Schedule;
use crate::wrong::Wrong;

/// Settings of descent, which many methods begin with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Descent {
    /// Passes over the training data.
    pub epochs: usize,
    /// First learning rate.
    pub lr: f64,
    /// How it falls.
    pub schedule: Schedule,
    /// Fraction of the last step in the next.
    pub momentum: f64,
}

impl Default for Descent {
    fn default() -> Self {
        let schedule = Schedule::FlatThenLinear { end: 0.01 };
        Self { epochs: 50, lr: 0.05, schedule, momentum: 0.9 }
    }
}

impl Descent {
    /// The learning rate of a step.
    pub(super) fn rate(&self, at: &Step<'_>) -> f64 {
        self.lr * self.schedule.fraction(at, self.epochs)
    }

    /// Checks the settings for a method that only begins with these epochs: there may be none of them.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        positive(&[("lr", self.lr)])?;
        fraction("momentum", self.momentum)
    }
}

/// Settings of `sgd`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sgd {
    /// The settings of descent.
    #[serde(flatten)]
    pub descent: Descent,
    /// `sgd`, `nesterov`, `adam` or `adamw`.
    pub optimiser: Kind,
}

impl Default for Sgd {
    fn default() -> Self {
        Self { descent: Descent::default(), optimiser: Kind::Sgd }
    }
}

impl From<Descent> for Sgd {
    fn from(descent: Descent) -> Self {
        Self { descent, optimiser: Kind::Sgd }
    }
}

impl Settings for Sgd {
    const CARD: Card = Card {
        name: "sgd",
        summary: "One network trained by stochastic gradient descent: the MAP estimate.",
        rule: "v = m v + grad U / N; theta -= lr v",
        citation: "Robbins and Monro 1951; schedule of Ashukha et al. 2020, eq. 10",
    };

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("epochs", self.descent.epochs)])?;
        self.descent.check()
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        Box::new(Descending::new(self, like))
    }

    fn passes(&self) -> f64 {
        self.descent.epochs as f64
    }
}

/// Descent by an optimiser; the last point is the sample. Other methods begin with it.
pub(super) struct Descending<V> {
    settings: Descent,
    optimiser: Optimiser<V>,
}

impl<V: Vector> Descending<V> {
    pub(super) fn new(settings: &Sgd, like: &V) -> Self {
        let Sgd { descent, optimiser } = settings;
        let optimiser = Optimiser::new(*optimiser, descent.momentum, like);
        Self { settings: descent.clone(), optimiser }
    }

    /// A step at a learning rate that the caller chooses.
    pub(super) fn step_at(&mut self, theta: &mut V, gradient: Gradient<'_, V>, rate: f64) {
        self.optimiser.step(theta, gradient, rate);
    }

    /// What it carries from one step to the next.
    pub(super) fn carried(&mut self) -> Memory<'_, V> {
        self.optimiser.memory()
    }
}

impl<V: Vector> Rule<V> for Descending<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        self.carried()
    }
}

impl<V: Vector> Steps<V> for Descending<V> {
    fn epochs(&self) -> usize {
        self.settings.epochs
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.settings.rate(at)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let gradient = batch.at(&mut points[0]);
        self.step_at(&mut points[0].theta, gradient, self.rate(at));
    }
    fn after_epoch(&mut self, epoch: usize, _: &[Point<V>]) -> Keep {
        Keep::when(epoch + 1 == self.settings.epochs)
    }
}
