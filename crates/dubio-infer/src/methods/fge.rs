//! `fge`: fast geometric ensembling, short cycles around a trained network.

use dubio_nn::engine::{Point, Vector};
use serde::{Deserialize, Serialize};

use super::sgd::{Descending, Descent};
use super::{Card, Settings, at_least_one, positive};
use crate::memory::Memory;
use crate::rule::{Keep, MiniBatch, Rule, Step, Steps};
use crate::schedule::triangle_cycle;
use crate::wrong::Wrong;

/// Settings of `fge`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fge {
    /// Training before the cycles.
    #[serde(flatten)]
    pub descent: Descent,
    /// Cycles, each of which gives a sample.
    pub samples: usize,
    /// Epochs of a cycle, an even number: the sample is taken in the middle, where the rate is lowest.
    pub cycle_epochs: usize,
    /// Highest learning rate of a cycle.
    pub lr_high: f64,
    /// Lowest learning rate of a cycle.
    pub lr_low: f64,
}

impl Default for Fge {
    fn default() -> Self {
        let descent = Descent::default();
        Self { descent, samples: 10, cycle_epochs: 4, lr_high: 0.05, lr_low: 5e-4 }
    }
}

impl Settings for Fge {
    const CARD: Card = Card {
        name: "fge",
        summary: "Networks collected along short learning-rate cycles that start from a trained network.",
        rule: "sgd; then sgd at rates that fall from lr_high to lr_low and rise again, a sample at each low",
        citation: "Garipov et al. 2018; Ashukha et al. 2020, eq. 17",
    };

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("samples", self.samples)])?;
        self.descent.check()?;
        positive(&[("lr_high", self.lr_high), ("lr_low", self.lr_low)])?;
        if self.lr_low > self.lr_high {
            let (low, high) = (self.lr_low, self.lr_high);
            let what = format!("`lr_low` must not be above `lr_high`, got {low} and {high}");
            return Err(Wrong::value(&["lr_low", "lr_high"], what));
        }
        match self.cycle_epochs {
            even if even >= 2 && even.is_multiple_of(2) => Ok(()),
            odd => {
                let what = format!("`cycle_epochs` must be 2, 4, 6, ..., got {odd}");
                Err(Wrong::value(&["cycle_epochs"], what))
            }
        }
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let descent = Descending::new(&self.descent.clone().into(), like);
        Box::new(Around { settings: self.clone(), descent })
    }

    fn passes(&self) -> f64 {
        self.all_epochs() as f64
    }

    fn samples(&self) -> usize {
        self.samples
    }
}

impl Fge {
    /// The last cycle ends with its sample.
    fn all_epochs(&self) -> usize {
        self.descent.epochs + self.samples * self.cycle_epochs - self.cycle_epochs / 2
    }
}

struct Around<V> {
    settings: Fge,
    descent: Descending<V>,
}

impl<V: Vector> Rule<V> for Around<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        self.descent.carried()
    }
}

impl<V: Vector> Steps<V> for Around<V> {
    fn epochs(&self) -> usize {
        self.settings.all_epochs()
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        let Fge { cycle_epochs, lr_high, lr_low, descent: Descent { epochs, .. }, .. } =
            self.settings;
        match at.number().checked_sub(epochs * at.batches) {
            None => self.descent.rate(at),
            Some(step) => triangle_cycle(step, cycle_epochs * at.batches, lr_high, lr_low),
        }
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let (rate, gradient) = (self.rate(at), batch.at(&mut points[0]));
        self.descent.step_at(&mut points[0].theta, gradient, rate);
    }
    fn after_epoch(&mut self, epoch: usize, _: &[Point<V>]) -> Keep {
        let Fge { cycle_epochs, descent: Descent { epochs, .. }, .. } = self.settings;
        let in_cycle = (epoch + 1).checked_sub(epochs).map(|after| after % cycle_epochs);
        Keep::when(in_cycle == Some(cycle_epochs / 2))
    }
}
