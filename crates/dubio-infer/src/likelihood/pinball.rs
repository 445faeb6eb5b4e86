//! Quantiles of every level from one network that reads the level beside the inputs.

use std::borrow::Cow;

use dubio_nn::layer::Layer;
use dubio_nn::loss::{Loss, Truth};
use dubio_nn::network::{Network, Source};
use dubio_nn::networks;
use dubio_nn::shape::Shape;

use super::{Array, Likelihood};
use crate::scaling::Scaling;

/// The standard deviation of a uniform level.
const LEVEL_STD: f64 = 0.288_675_134_594_812_9;

/// A level `u` as the network reads it, standardised like every other input: `(u - 1/2) sqrt(12)`.
pub(crate) fn as_input(level: f64) -> f64 {
    (level - 0.5) / LEVEL_STD
}

/// The pinball loss `max(u (y - q), (u - 1) (y - q))`, least in expectation at the quantile of level `u`. The outputs
/// are `q` and the level as the network read it, which it was given as its last input. Koenker and Bassett 1978.
#[derive(Clone, Debug, PartialEq)]
pub struct Pinball {
    /// Levels of the quantiles that are predicted; none for draws of the target, at random levels.
    pub levels: Vec<f64>,
}

impl Loss for Pinball {
    fn outputs(&self) -> usize {
        2
    }
    fn mean(&self, outputs: &[f64], truth: Truth<'_>, _: &[u32], gradient: &mut [f64]) -> f64 {
        let Truth::Targets(targets) = truth else { unreachable!("quantiles are of targets") };
        let n = targets.len() as f64;
        let mut sum = 0.0;
        for ((row, target), gradient) in
            outputs.chunks_exact(2).zip(targets).zip(gradient.chunks_exact_mut(2))
        {
            let (level, miss) = (row[1] * LEVEL_STD + 0.5, target - row[0]);
            let slope = if miss > 0.0 { level } else { level - 1.0 };
            sum += slope * miss;
            gradient.copy_from_slice(&[-slope / n, 0.0]);
        }
        sum / n
    }
}

impl Likelihood for Pinball {
    fn random_inputs(&self) -> usize {
        1
    }
    /// The named network with the level as one more input, which is handed on beside its only output.
    fn network(&self, name: &str, input: Shape) -> Result<Network, String> {
        if input.places() > 1 {
            return Err("sqr reads the level beside the columns of a table, and these are images; choose another method".to_string());
        }
        let width = input.size();
        let mut network = networks::build(name, Shape::vector(width + 1), 1)?;
        let quantile = network.end();
        let level =
            network.feed(&[Source::Input], "level", Layer::Take { first: width, numbers: 1 });
        network.feed(&[quantile, level], "quantile", Layer::Concat);
        Ok(network)
    }
    /// Quantiles, or draws, in the unit of the targets.
    fn predictions(&self, outputs: Vec<f32>, scaling: &Scaling) -> Vec<f32> {
        in_units(outputs, scaling)
    }
    /// `quantiles` are the mean over members of the quantiles at each level (Vincent 1912); `samples` are the draws of
    /// all members.
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>> {
        let (levels, examples) = (self.levels.len(), shape[1]);
        if levels == 0 {
            return vec![draws(values, shape)];
        }
        let members = shape[0] / levels;
        let mut means = vec![0.0_f64; levels * examples];
        for member in values.chunks_exact(levels * examples) {
            means.iter_mut().zip(member).for_each(|(mean, q)| *mean += f64::from(*q));
        }
        let mean = |sum: f64| (sum / members as f64) as f32;
        let quantiles = means.into_iter().map(mean).collect();
        let numbers = self.levels.iter().map(|level| *level as f32).collect();
        vec![
            Array { name: "quantiles", values: quantiles, shape: vec![levels, examples] },
            Array { name: "levels", values: numbers, shape: vec![levels] },
        ]
    }
}

/// Standardised targets in their own unit.
pub(super) fn in_units(mut values: Vec<f32>, scaling: &Scaling) -> Vec<f32> {
    let scale = scaling.targets().expect("measured on targets");
    values.iter_mut().for_each(|y| *y = scale.mean_back(f64::from(*y)) as f32);
    values
}

/// Draws `[samples, examples, draws]` as the rows of `samples`, `[samples draws, examples]`.
pub(super) fn draws(values: &[f32], [samples, examples, draws]: [usize; 3]) -> Array<'_> {
    let shape = vec![samples * draws, examples];
    if draws == 1 {
        return Array { name: "samples", values: Cow::Borrowed(values), shape };
    }
    let each = values.chunks_exact((examples * draws).max(1)).flat_map(|sample| {
        (0..draws).flat_map(move |draw| sample.iter().skip(draw).step_by(draws).copied())
    });
    Array { name: "samples", values: each.collect(), shape }
}
