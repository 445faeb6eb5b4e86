//! The path that descent takes around a minimum: its mean, its variance, its last points.

use dubio_nn::engine::{Point, Vector};
use serde::{Deserialize, Serialize};

use super::sgd::{Descending, Descent};
use super::{at_least_one, positive};
use crate::memory::Memory;
use crate::rule::{Keep, MiniBatch, Step, Steps};
use crate::schedule::Schedule;
use crate::wrong::Wrong;

/// Training, then epochs at one learning rate, the last of which are collected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Path {
    /// Training before points are collected.
    #[serde(flatten)]
    pub descent: Descent,
    /// Learning rate after training.
    pub collect_lr: f64,
    /// Epochs at that rate.
    pub collect_epochs: usize,
    /// How many of them, at the end, give a point.
    pub collect: usize,
}

impl Default for Path {
    fn default() -> Self {
        let schedule = Schedule::FlatThenLinear { end: 0.2 };
        let descent = Descent { schedule, ..Descent::default() };
        Self { descent, collect_lr: 0.01, collect_epochs: 20, collect: 20 }
    }
}

impl Path {
    /// All epochs.
    pub(super) fn epochs(&self) -> usize {
        self.descent.epochs + self.collect_epochs
    }

    pub(super) fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("collect", self.collect)])?;
        self.descent.check()?;
        positive(&[("collect_lr", self.collect_lr)])?;
        if self.collect > self.collect_epochs {
            let what = format!(
                "`collect` is the number of epochs at the end of `collect_epochs` that count: at most {}, got {}",
                self.collect_epochs, self.collect
            );
            return Err(Wrong::value(&["collect", "collect_epochs"], what));
        }
        Ok(())
    }
}

/// Moments by Welford's method, so that no small variance is the difference of two large numbers.
pub(super) struct Trajectory<V> {
    path: Path,
    descent: Descending<V>,
    /// How many of the last points are kept.
    width: usize,
    /// Points so far.
    count: u64,
    /// Their mean.
    mean: V,
    /// The sum of their squared deviations from it.
    squares: V,
    /// The last points.
    points: Vec<V>,
    room: V,
}

impl<V: Vector> Trajectory<V> {
    pub(super) fn new(path: Path, width: usize, like: &V) -> Self {
        let zeros = || like.zeros(like.len());
        Self {
            descent: Descending::new(&path.descent.clone().into(), like),
            path,
            width,
            count: 0,
            mean: zeros(),
            squares: zeros(),
            points: Vec::new(),
            room: zeros(),
        }
    }

    fn collect(&mut self, theta: &V) {
        self.count += 1;
        let weight = 1.0 / self.count as f64;
        let before = &mut self.room;
        before.copy_from(theta);
        before.axpy(-1.0, &self.mean);
        self.mean.axpy(weight, before);
        // (theta - old mean) (theta - new mean) = (1 - 1/n) (theta - old mean)^2, never below 0.
        self.squares.add_product(1.0 - weight, before, before);
        if self.width == 0 {
            return;
        }
        if self.points.len() == self.width {
            self.points.remove(0);
        }
        self.points.push(theta.clone());
    }

    /// The mean of the points.
    pub(super) fn mean(&self) -> &V {
        &self.mean
    }

    /// The sum of squared deviations from the mean, and the number of points: their quotient is the
    /// variance.
    pub(super) fn squares(&self) -> (&V, f64) {
        (&self.squares, self.count as f64)
    }

    /// The last points' deviations from the mean of all.
    pub(super) fn deviations(&self) -> Vec<V> {
        let centred = self.points.iter().map(|point| {
            let mut deviation = point.clone();
            deviation.axpy(-1.0, self.mean());
            deviation
        });
        centred.collect()
    }

    pub(super) fn memory(&mut self) -> Memory<'_, V> {
        self.descent
            .carried()
            .vector("path.mean", &mut self.mean)
            .vector("path.squares", &mut self.squares)
            .vectors("path.points", &mut self.points)
            .count("path.count", &mut self.count)
    }
}

impl<V: Vector> Steps<V> for Trajectory<V> {
    fn epochs(&self) -> usize {
        self.path.epochs()
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        if at.epoch < self.path.descent.epochs {
            self.descent.rate(at)
        } else {
            self.path.collect_lr
        }
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let (rate, gradient) = (self.rate(at), batch.at(&mut points[0]));
        self.descent.step_at(&mut points[0].theta, gradient, rate);
    }
    fn after_epoch(&mut self, epoch: usize, points: &[Point<V>]) -> Keep {
        if epoch + self.path.collect >= self.path.epochs() {
            self.collect(&points[0].theta);
        }
        Keep::Nothing
    }
}
