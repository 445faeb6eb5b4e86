//! Factors on the inputs and outputs of weights that members share: the networks that they make, and the chain rule back.
//!
//! `y = ((x r) W) s + b` is the layer with the weights `W_io r_i s_o`. Each member is therefore a point of the network as
//! it is, on any engine and for every layer: members differ in these products alone.

use dubio_nn::engine::{Point, Vector};
use dubio_nn::matrix::Matrix;
use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;
use serde::{Deserialize, Serialize};

use super::fraction;
use crate::rule::MiniBatch;
use crate::wrong::Wrong;

/// How factors start and move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FactorSettings {
    /// Probability that a factor starts at -1 instead of 1: random signs at 0.5. With 0 and some `spread`, members start
    /// near the network that `start` or `warm_up` gives; random signs turn it into other networks.
    pub signs: f64,
    /// Standard deviation of the starts of factors around 1 or -1.
    pub spread: f64,
    /// Learning rate of the factors as a multiple of `lr`.
    pub factor_lr: f64,
}

impl Default for FactorSettings {
    fn default() -> Self {
        Self { signs: 0.5, spread: 0.0, factor_lr: 1.0 }
    }
}

impl FactorSettings {
    pub(super) fn check(&self) -> Result<(), Wrong> {
        fraction("signs", self.signs)?;
        let both = [("spread", self.spread), ("factor_lr", self.factor_lr)];
        match both.iter().find(|(_, value)| !(value.is_finite() && *value >= 0.0)) {
            None => Ok(()),
            Some((name, value)) => {
                Err(Wrong::value(&[name], format!("`{name}` must be at least 0, got {value}")))
            }
        }
    }

    /// The factors of these matrices at the start.
    pub(super) fn start<V: Vector>(&self, matrices: &[Matrix], like: &V, stream: &Stream) -> V {
        let mut generator = stream.child("signs").generator();
        let sign = |_| if uniform(&mut generator) < self.signs { -1.0 } else { 1.0 };
        let signs: Vec<f64> = (0..count(matrices)).map(sign).collect();
        let mut factors = like.zeros(signs.len());
        factors.write(0, &signs);
        factors.add_noise(self.spread, &stream.child("spread"));
        factors
    }
}

/// How many factors there are on both sides of some matrices.
fn count(matrices: &[Matrix]) -> usize {
    matrices.iter().map(Matrix::factors).sum()
}

/// The weights with these factors applied.
pub(super) fn network<V: Vector>(matrices: &[Matrix], weights: &V, factors: &V) -> V {
    let mut theta = weights.clone();
    theta.scale_sides(matrices, factors);
    theta
}

/// The gradient of the mean loss at a member's network. Running statistics, which all members share, move.
pub(super) fn gradient<'a, V: Vector>(
    theta: V,
    shared: &mut Point<V>,
    batch: &'a mut MiniBatch<'_, V>,
) -> &'a mut V {
    let mut there = Point { theta, statistics: shared.statistics.clone() };
    let gradient = batch.at(&mut there).likelihood;
    shared.statistics = there.statistics;
    gradient
}

/// From the gradient at the network of some factors: adds `a` times the gradient with respect to the factors to
/// `of_factors`, and turns `gradient` into the one with respect to the weights.
pub(super) fn back<V: Vector>(
    matrices: &[Matrix],
    a: f64,
    gradient: &mut V,
    [weights, factors]: [&V; 2],
    of_factors: &mut V,
) {
    of_factors.add_side_gradients(a, matrices, gradient, weights, factors);
    gradient.scale_sides(matrices, factors);
}

/// The biases of these layers, one after another.
pub(super) fn biases<V: Vector>(matrices: &[Matrix], theta: &V) -> V {
    let mut all = theta.zeros(matrices.iter().map(|matrix| matrix.bias.len()).sum());
    let mut start = 0;
    for matrix in matrices.iter().filter(|matrix| !matrix.bias.is_empty()) {
        all.put(start, &theta.part(matrix.bias.clone()));
        start += matrix.bias.len();
    }
    all
}

/// Puts these biases where they belong.
pub(super) fn put_biases<V: Vector>(matrices: &[Matrix], biases: &V, theta: &mut V) {
    let mut start = 0;
    for matrix in matrices.iter().filter(|matrix| !matrix.bias.is_empty()) {
        theta.put(matrix.bias.start, &biases.part(start..start + matrix.bias.len()));
        start += matrix.bias.len();
    }
}
