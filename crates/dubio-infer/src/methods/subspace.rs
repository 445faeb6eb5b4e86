//! `subspace`: elliptical slice sampling in the subspace of the principal directions of the descent's path.

use dubio_nn::engine::{Point, Vector};
use faer::{Mat, Side};
use serde::{Deserialize, Serialize};

use super::elliptical_slice::Position;
use super::trajectory::{Path, Trajectory};
use super::{Card, Settings, at_least_one, positive};
use crate::error::Error;
use crate::memory::Memory;
use crate::rule::{Draw, Draws, Rule, Steps};
use crate::target::Target;
use crate::wrong::Wrong;

/// Settings of `subspace`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Subspace {
    /// The path whose points are collected.
    #[serde(flatten)]
    pub path: Path,
    /// Directions, at most one fewer than points.
    pub rank: usize,
    /// Moves before the first sample.
    pub burn_in: usize,
    /// Samples, one after each move.
    pub samples: usize,
    /// Standard deviation of the prior on each coordinate; a coordinate of 1 is one standard deviation of
    /// the path.
    pub coordinate_std: f64,
    /// Divides the log-likelihood of all the data.
    pub temperature: f64,
}

impl Default for Subspace {
    fn default() -> Self {
        Self {
            path: Path::default(),
            rank: 5,
            burn_in: 0,
            samples: 30,
            coordinate_std: 2.0,
            temperature: 1.0,
        }
    }
}

/// The most points of the path, all of which are kept; the matrix of their products is decomposed.
const MOST_POINTS: usize = 1000;

impl Settings for Subspace {
    const CARD: Card = Card {
        name: "subspace",
        summary: "Elliptical slice sampling in the principal subspace of the SGD trajectory.",
        rule: "theta = mean + P z, P = s_i u_i / sqrt(K - 1) of the path; z by slices of exp(-N loss / T) Normal(0, coordinate_std^2)",
        citation: "Izmailov et al. 2019; Murray et al. 2010",
    };
    const IS_CHAIN: bool = true;

    fn check(&self) -> Result<(), Wrong> {
        self.path.check()?;
        at_least_one(&[("samples", self.samples), ("rank", self.rank)])?;
        positive(&[("coordinate_std", self.coordinate_std), ("temperature", self.temperature)])?;
        if !(2..=MOST_POINTS).contains(&self.path.collect) {
            let points = self.path.collect;
            let what = format!("`collect` must be from 2 to {MOST_POINTS}, got {points}");
            return Err(Wrong::value(&["collect"], what));
        }
        Ok(())
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        Box::new(Slices {
            settings: self.clone(),
            trajectory: Trajectory::new(self.path.clone(), self.path.collect, like),
            directions: Vec::new(),
            coordinates: Vec::new(),
            likelihood: 0.0,
            evaluations: 0,
        })
    }

    /// A move takes some three losses of all the data, each a third of a gradient.
    fn passes(&self) -> f64 {
        (self.path.epochs() + self.burn_in + self.samples) as f64
    }

    fn samples(&self) -> usize {
        self.samples
    }

    /// The points of the path, their deviations from its mean, and the directions.
    fn vectors(&self) -> usize {
        2 * self.path.collect + self.rank.min(self.path.collect)
    }
}

struct Slices<V> {
    settings: Subspace,
    trajectory: Trajectory<V>,
    /// Columns of `P`, made when the first move is.
    directions: Vec<V>,
    /// `z`; none before the first move.
    coordinates: Vec<f64>,
    /// `-N loss / T` there.
    likelihood: f64,
    /// How often a likelihood was asked for.
    evaluations: u64,
}

impl<V: Vector> Slices<V> {
    fn theta(&self, coordinates: &[f64]) -> V {
        let mut theta = self.trajectory.mean().clone();
        for (direction, z) in self.directions.iter().zip(coordinates) {
            theta.axpy(*z, direction);
        }
        theta
    }

    fn likelihood(&self, coordinates: &[f64], target: &mut dyn Target<Vector = V>) -> f64 {
        let loss = target.whole_loss(&self.theta(coordinates));
        -(target.examples() as f64) * loss / self.settings.temperature
    }

    /// Where the chain is; at first the mean of the path.
    fn position(&mut self, target: &mut dyn Target<Vector = V>) -> Result<Position, Error> {
        if self.directions.is_empty() {
            self.directions = main_directions(&self.trajectory.deviations(), self.settings.rank)?;
        }
        if self.coordinates.is_empty() {
            self.coordinates = vec![0.0; self.directions.len()];
            self.likelihood = self.likelihood(&self.coordinates, target);
            self.evaluations += 1;
        }
        let (coordinates, log_likelihood) = (self.coordinates.clone(), self.likelihood);
        if !log_likelihood.is_finite() {
            let what = "subspace: the loss is not finite at the mean of the path";
            return Err(Error::Chain(what.to_string()));
        }
        Ok(Position { coordinates, log_likelihood })
    }
}

/// `D v_i / sqrt(K - 1)` for the leading right singular vectors `v_i` of the deviations `D`: the leading left ones,
/// scaled to the path's standard deviation along each. Computed from the small matrix `D' D`.
fn main_directions<V: Vector>(deviations: &[V], rank: usize) -> Result<Vec<V>, Error> {
    let count = deviations.len();
    let gram = Mat::from_fn(count, count, |i, j| deviations[i].dot(&deviations[j]));
    let failed =
        || Error::Chain("subspace: the path has no main directions; is its loss a number?".into());
    let eigen = gram.self_adjoint_eigen(Side::Lower).map_err(|_| failed())?;
    let (values, vectors) = (eigen.S(), eigen.U());
    let largest = values[count - 1];
    if largest.is_nan() || largest <= 0.0 {
        return Err(failed());
    }
    // From the largest on. One of the K is 0, since deviations sum to 0; directions without length are left out.
    let mut directions = Vec::new();
    for i in (0..count).rev().take(rank).filter(|&i| values[i] > 1e-9 * largest) {
        let mut direction = deviations[0].clone();
        direction.fill(0.0);
        for (j, deviation) in deviations.iter().enumerate() {
            direction.axpy(vectors[(j, i)] / (count as f64 - 1.0).sqrt(), deviation);
        }
        directions.push(direction);
    }
    Ok(directions)
}

impl<V: Vector> Rule<V> for Slices<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(&mut self.trajectory)
    }
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        self.trajectory
            .memory()
            .numbers("coordinates", &mut self.coordinates)
            .number("likelihood", &mut self.likelihood)
            .count("evaluations", &mut self.evaluations)
    }
    fn report(&self) -> Vec<(&'static str, f64)> {
        vec![("likelihood_evaluations", self.evaluations as f64)]
    }
}

impl<V: Vector> Draws<V> for Slices<V> {
    fn count(&self) -> usize {
        self.settings.burn_in + self.settings.samples
    }
    fn draw(
        &mut self,
        _: &mut [Point<V>],
        target: &mut dyn Target<Vector = V>,
        at: &Draw<'_>,
    ) -> Result<Vec<V>, Error> {
        let mut position = self.position(target)?;
        let mut evaluations = 0;
        position.slice(self.settings.coordinate_std, at.stream, |coordinates| {
            at.may_go_on()?;
            evaluations += 1;
            Ok(self.likelihood(coordinates, target))
        })?;
        self.evaluations += evaluations;
        self.likelihood = position.log_likelihood;
        self.coordinates = position.coordinates;
        let kept = (at.index >= self.settings.burn_in).then(|| self.theta(&self.coordinates));
        Ok(kept.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use dubio_nn::Double;
    use dubio_nn::engine::Engine;

    use super::*;

    #[test]
    fn directions_have_the_lengths_of_the_paths_deviations() {
        // Points at +-3 along x and +-1 along y, centred: variances 6 and 2/3 with K - 1 = 3.
        let deviations = [[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
            .map(|deviation| Double::default().vector(&deviation));
        let directions = main_directions(&deviations, 4).unwrap();
        assert_eq!(directions.len(), 2, "the others have no length");
        let expected = [[6_f64.sqrt(), 0.0], [0.0, (2.0 / 3.0_f64).sqrt()]];
        for (direction, expected) in directions.iter().zip(expected) {
            for (value, expected) in direction.read(0..2).iter().zip(expected) {
                assert!((value.abs() - expected).abs() < 1e-12, "{directions:?}");
            }
        }
    }
}
