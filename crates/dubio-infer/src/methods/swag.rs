//! `swag`: a Gaussian around the mean of the points that descent visits.

use dubio_nn::engine::{Point, Vector};
use dubio_random::normal::normals;
use dubio_random::stream::Stream;
use serde::{Deserialize, Serialize};

use super::trajectory::{Path, Trajectory};
use super::{Card, Settings, at_least_one};
use crate::error::Error;
use crate::memory::Memory;
use crate::rule::{Draw, Draws, Rule, Steps};
use crate::target::Target;
use crate::wrong::Wrong;

/// Which covariance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Covariance {
    /// Half the variances, half the covariance of the last points.
    Full,
    /// The variances alone.
    Diagonal,
}

/// Settings of `swag`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Swag {
    /// The path whose points are collected.
    #[serde(flatten)]
    pub path: Path,
    /// `full` or `diagonal`.
    pub covariance: Covariance,
    /// Points that the low-rank part is made of; the last ones.
    pub rank: usize,
    /// Samples drawn from the Gaussian.
    pub samples: usize,
}

impl Default for Swag {
    fn default() -> Self {
        Self { path: Path::default(), covariance: Covariance::Full, rank: 20, samples: 30 }
    }
}

impl Settings for Swag {
    const CARD: Card = Card {
        name: "swag",
        summary: "Samples from a Gaussian fitted to the weights that SGD visits.",
        rule: "mean + diag^(1/2) z1 / sqrt(2) + D z2 / sqrt(2 (K - 1)); diagonal: mean + diag^(1/2) z1",
        citation: "Maddox et al. 2019; deviations are taken from the mean of all points",
    };

    fn check(&self) -> Result<(), Wrong> {
        self.path.check()?;
        at_least_one(&[("samples", self.samples)])?;
        let columns = self.rank.min(self.path.collect);
        if self.covariance == Covariance::Full && columns < 2 {
            let what = format!(
                "a full covariance takes at least 2 points, got {columns}; raise `rank` and `collect`, or \
                 set covariance = \"diagonal\""
            );
            return Err(Wrong::value(&["rank", "collect"], what));
        }
        Ok(())
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let width = if self.covariance == Covariance::Full { self.rank } else { 0 };
        Box::new(Gaussian {
            samples: self.samples,
            covariance: self.covariance,
            trajectory: Trajectory::new(self.path.clone(), width, like),
            deviations: Vec::new(),
        })
    }

    fn passes(&self) -> f64 {
        self.path.epochs() as f64
    }

    fn samples(&self) -> usize {
        self.samples
    }

    /// The last points, and their deviations from the mean.
    fn vectors(&self) -> usize {
        2 * self.rank.min(self.path.collect)
    }
}

struct Gaussian<V> {
    samples: usize,
    covariance: Covariance,
    trajectory: Trajectory<V>,
    /// Made of the trajectory's points when the first sample is drawn.
    deviations: Vec<V>,
}

impl<V: Vector> Gaussian<V> {
    fn sample(&mut self, stream: &Stream) -> V {
        let mut theta = self.trajectory.mean().clone();
        let mut noise = theta.clone();
        noise.fill(0.0);
        noise.add_noise(1.0, &stream.child("diagonal"));
        let (squares, count) = self.trajectory.squares();
        let half = match self.covariance {
            Covariance::Full => 0.5,
            Covariance::Diagonal => 1.0,
        };
        theta.add_times_root((half / count).sqrt(), &noise, squares);
        if self.covariance == Covariance::Full {
            if self.deviations.is_empty() {
                self.deviations = self.trajectory.deviations();
            }
            // One number for each column, the same for all parameters: that is what correlates them.
            let columns = self.deviations.len();
            let scale = (0.5 / (columns as f64 - 1.0)).sqrt();
            let weights = normals(columns, &stream.child("columns"));
            for (deviation, z) in self.deviations.iter().zip(weights) {
                theta.axpy(scale * z, deviation);
            }
        }
        theta
    }
}

impl<V: Vector> Rule<V> for Gaussian<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(&mut self.trajectory)
    }
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        self.trajectory.memory()
    }
}

impl<V: Vector> Draws<V> for Gaussian<V> {
    fn count(&self) -> usize {
        self.samples
    }
    fn draw(
        &mut self,
        _: &mut [Point<V>],
        _: &mut dyn Target<Vector = V>,
        at: &Draw<'_>,
    ) -> Result<Vec<V>, Error> {
        Ok(vec![self.sample(at.stream)])
    }
}
