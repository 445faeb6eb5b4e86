//! `swa`: the mean of the points that descent visits.

use dubio_nn::engine::{Point, Vector};
use serde::{Deserialize, Serialize};

use super::trajectory::{Path, Trajectory};
use super::{Card, Settings};
use crate::error::Error;
use crate::memory::Memory;
use crate::rule::{Draw, Draws, Rule, Steps};
use crate::target::Target;
use crate::wrong::Wrong;

/// Settings of `swa`: those of the path that it averages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Swa(pub Path);

impl Settings for Swa {
    const CARD: Card = Card {
        name: "swa",
        summary: "One network: the average of the weights that SGD visits at a constant learning rate.",
        rule: "sgd; then the mean of theta after each epoch; normalisation statistics recomputed",
        citation: "Izmailov et al. 2018",
    };

    fn check(&self) -> Result<(), Wrong> {
        self.0.check()
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        Box::new(Average(Trajectory::new(self.0.clone(), 0, like)))
    }

    fn passes(&self) -> f64 {
        self.0.epochs() as f64
    }
}

struct Average<V>(Trajectory<V>);

impl<V: Vector> Rule<V> for Average<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(&mut self.0)
    }
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        self.0.memory()
    }
}

impl<V: Vector> Draws<V> for Average<V> {
    fn count(&self) -> usize {
        1
    }
    fn draw(
        &mut self,
        _: &mut [Point<V>],
        _: &mut dyn Target<Vector = V>,
        _: &Draw<'_>,
    ) -> Result<Vec<V>, Error> {
        Ok(vec![self.0.mean().clone()])
    }
}
