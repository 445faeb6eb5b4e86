//! `packed-ensemble`: narrow networks trained side by side, which together cost what one network does.

use dubio_nn::engine::{Point, Vector};
use dubio_nn::network::Network;
use serde::{Deserialize, Serialize};

use super::sgd::Sgd;
use super::svgd::spread;
use super::{Card, Settings, at_least_one};
use crate::memory::Memory;
use crate::optimisers::Optimiser;
use crate::rule::{Gradient, Keep, MiniBatch, Rule, Step, Steps};
use crate::wrong::Wrong;

/// Settings of `packed-ensemble`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PackedEnsemble {
    /// Narrow networks, each of which is a sample.
    pub samples: usize,
    /// Width of all of them together, as a multiple of that of the network.
    pub alpha: f64,
    /// The settings of `sgd`.
    #[serde(flatten)]
    pub sgd: Sgd,
}

impl Default for PackedEnsemble {
    fn default() -> Self {
        Self { samples: 4, alpha: 2.0, sgd: Sgd::default() }
    }
}

/// The largest `alpha`.
const MOST: f64 = 100.0;

impl Settings for PackedEnsemble {
    const CARD: Card = Card {
        name: "packed-ensemble",
        summary: "Narrow networks trained together on the same mini-batches, which have the cost of one or two whole ones.",
        rule: "sgd of M networks whose hidden layers have alpha / M of the width, rounded up: alpha^2 / M of the weights between hidden layers in all",
        citation: "Laurent et al. 2023, with gamma = 1",
    };

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("samples", self.samples)])?;
        if !(self.alpha > 0.0 && self.alpha <= MOST) {
            let what = format!("`alpha` must be above 0 and at most {MOST}, got {}", self.alpha);
            return Err(Wrong::value(&["alpha"], what));
        }
        self.sgd.check()
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let optimiser = || Optimiser::new(self.sgd.optimiser, self.sgd.descent.momentum, like);
        let optimisers = (0..self.samples).map(|_| optimiser()).collect();
        Box::new(Packed { settings: self.clone(), optimisers, gradients: Vec::new() })
    }

    fn resized(&self, network: Network) -> Network {
        let share = self.alpha / self.samples as f64;
        // A share such as 0.6 of 5 is 3 and not, by rounding, 4.
        network.with_widths(|width| ((share * width as f64 - 1e-9).ceil() as usize).max(1))
    }

    fn passes(&self) -> f64 {
        (self.samples * self.sgd.descent.epochs) as f64
    }

    fn samples(&self) -> usize {
        self.samples
    }

    /// A gradient, a point and a velocity for each network.
    fn vectors(&self) -> usize {
        3 * self.samples
    }
}

struct Packed<V> {
    settings: PackedEnsemble,
    optimisers: Vec<Optimiser<V>>,
    /// The gradient of the mean loss of each network.
    gradients: Vec<V>,
}

impl<V: Vector> Rule<V> for Packed<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        let each = self.optimisers.iter_mut().enumerate();
        each.fold(Memory::none(), |all, (index, own)| all.and(own.memory().of(index)))
    }
}

impl<V: Vector> Steps<V> for Packed<V> {
    fn epochs(&self) -> usize {
        self.settings.sgd.descent.epochs
    }
    fn points(&self) -> usize {
        self.settings.samples
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.settings.sgd.descent.rate(at)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        if at.number() == 0 {
            spread(points, at);
        }
        let rate = self.rate(at);
        self.gradients.resize(points.len(), points[0].theta.clone());
        batch.gradients(points, &mut self.gradients);
        let moves = points.iter_mut().zip(&mut self.optimisers).zip(&mut self.gradients);
        for ((point, optimiser), gradient) in moves {
            let gradient = Gradient::new(gradient, batch.prior(), at.examples);
            optimiser.step(&mut point.theta, gradient, rate);
        }
    }
    fn after_epoch(&mut self, epoch: usize, _: &[Point<V>]) -> Keep {
        Keep::when(epoch + 1 == self.settings.sgd.descent.epochs)
    }
}
