//! A conditional flow in one dimension: a density of any shape around a mean and a scale.

use std::f64::consts::TAU;

use dubio_nn::layer::Layer;
use dubio_nn::loss::{Loss, Truth, log_std};
use dubio_nn::network::Network;
use dubio_nn::networks;
use dubio_nn::parameter::Initial;
use dubio_nn::shape::Shape;

use super::pinball::{draws, in_units};
use super::residual::{Block, numbers};
use super::{Array, Likelihood};
use crate::scaling::Scaling;

/// Residual blocks.
const BLOCKS: usize = 2;

/// `z(y) ~ Normal(0, 1)`, with `z` the maps `(y - m) / s`, then twice `x + g(x)` (`Block`) and `exp(a) x + t`: so
/// `log p(y) = log Normal(z) + log dz/dy`, with the exact derivative. `m`, `log s` and the offsets inside `g` are the
/// outputs of the network, and differ from example to example; all other numbers are learnt and shared, and follow
/// them. Gopal 2021, app. A and figure 8; without the blocks it is the conditional Gaussian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Units of either hidden layer of a residual block.
    pub hidden: usize,
}

impl Flow {
    /// Outputs of the network itself.
    fn conditional(&self) -> usize {
        2 + BLOCKS * self.hidden
    }
    /// Numbers of a block and of the affine map behind it.
    fn stage(&self) -> usize {
        numbers(self.hidden) + 2
    }
    /// The maps that all examples share, read from the outputs of any one of them.
    pub fn shared<'a>(&self, row: &'a [f64]) -> Shared<'a> {
        let stages = row[self.conditional()..].chunks_exact(self.stage()).map(|stage| {
            let (block, affine) = stage.split_at(numbers(self.hidden));
            (Block::new(block, self.hidden), log_std(affine[0]), affine[1])
        });
        Shared { hidden: self.hidden, stages: stages.collect() }
    }
}

/// What the densities of all examples share.
pub struct Shared<'a> {
    hidden: usize,
    /// A block, and the log scale and the shift behind it.
    stages: Vec<(Block<'a>, f64, f64)>,
}

impl Shared<'_> {
    fn offsets<'b>(&self, row: &'b [f64], stage: usize) -> &'b [f64] {
        &row[2 + stage * self.hidden..][..self.hidden]
    }

    /// `z(y)` and `log dz/dy` of an example with these outputs.
    pub fn forward(&self, y: f64, row: &[f64]) -> (f64, f64) {
        let log_s = log_std(row[1]);
        let (mut x, mut log_slope) = ((y - row[0]) * (-log_s).exp(), -log_s);
        for (k, (block, a, shift)) in self.stages.iter().enumerate() {
            let (value, slope) = block.at(x, self.offsets(row, k));
            x = value * a.exp() + shift;
            log_slope += slope.ln() + a;
        }
        (x, log_slope)
    }

    /// The `y` with `z(y) = z`; `guesses` holds where each block's inverse was last found, and is updated.
    fn inverse(&self, z: f64, row: &[f64], guesses: &mut [f64]) -> f64 {
        let stages = self.stages.iter().enumerate().rev();
        let x = stages.fold(z, |z, (k, (block, a, shift))| {
            guesses[k] = block.inverse((z - shift) * (-a).exp(), guesses[k], self.offsets(row, k));
            guesses[k]
        });
        row[0] + x * log_std(row[1]).exp()
    }

    /// Draws of `y` for standard normal `z`, in their order.
    pub fn draws(&self, z: &[f64], row: &[f64]) -> Vec<f64> {
        let mut order: Vec<usize> = (0..z.len()).collect();
        order.sort_by(|&i, &j| z[i].total_cmp(&z[j]));
        // In ascending order, so that the search for each starts at the one before.
        let mut guesses = vec![0.0; self.stages.len()];
        let mut draws = vec![0.0; z.len()];
        order.into_iter().for_each(|i| draws[i] = self.inverse(z[i], row, &mut guesses));
        draws
    }

    /// Adds the gradient of `-weight log p(y)` to those of an example's outputs, of the shared numbers and, separately,
    /// of the blocks' scales; gives `-log p(y)`.
    fn add_gradient(
        &self,
        y: f64,
        row: &[f64],
        weight: f64,
        gradient: &mut [f64],
        shared: &mut [f64],
        scales: &mut [f64],
    ) -> f64 {
        let log_s = log_std(row[1]);
        let first = (y - row[0]) * (-log_s).exp();
        let (mut x, mut loss, mut passes) = (first, log_s, Vec::new());
        for (k, (block, a, shift)) in self.stages.iter().enumerate() {
            let pass = block.forward(x, self.offsets(row, k));
            let value = block.value(x, &pass);
            loss -= block.slope(&pass).ln_1p() + a;
            passes.push((x, value, pass));
            x = value * a.exp() + shift;
        }
        loss += 0.5 * x * x + 0.5 * TAU.ln();
        let mut of_x = weight * x;
        let length = shared.len() / self.stages.len();
        for (k, (block, a, _)) in self.stages.iter().enumerate().rev() {
            let (at, value, pass) = &passes[k];
            let (own, affine) = shared[k * length..(k + 1) * length].split_at_mut(length - 2);
            affine[0] += of_x * value * a.exp() - weight;
            affine[1] += of_x;
            let seeds = [of_x * a.exp(), -weight / (1.0 + block.slope(pass))];
            scales[k] += block.of_scale(pass, seeds);
            let offsets = &mut gradient[2 + k * self.hidden..][..self.hidden];
            of_x = block.backward(*at, pass, seeds, own, offsets);
        }
        gradient[0] -= of_x * (-log_s).exp();
        // Beyond its bounds the output changes nothing.
        gradient[1] += if log_s == row[1] { weight - of_x * first } else { 0.0 };
        loss
    }
}

impl Loss for Flow {
    fn outputs(&self) -> usize {
        self.conditional() + BLOCKS * self.stage()
    }
    /// The gradients of the shared numbers are summed over the batch and put into its first row: the backward pass of
    /// the layer that appends the numbers sums over the rows in any case.
    fn mean(&self, outputs: &[f64], truth: Truth<'_>, _: &[u32], gradient: &mut [f64]) -> f64 {
        let Truth::Targets(targets) = truth else { unreachable!("a density is of targets") };
        let (width, weight) = (self.outputs(), 1.0 / targets.len() as f64);
        let shared = self.shared(&outputs[..width]);
        let (mut sum, mut scales) = (0.0, [0.0; BLOCKS]);
        let mut of_shared = vec![0.0; BLOCKS * self.stage()];
        gradient.fill(0.0);
        let rows = outputs.chunks_exact(width).zip(gradient.chunks_exact_mut(width));
        for ((row, gradient), y) in rows.zip(targets) {
            sum += shared.add_gradient(*y, row, weight, gradient, &mut of_shared, &mut scales);
        }
        for (k, (block, a, _)) in shared.stages.iter().enumerate() {
            let own = &mut of_shared[k * self.stage()..(k + 1) * self.stage()];
            block.through_scale(scales[k], &mut own[..numbers(self.hidden)]);
            let output = outputs[self.conditional() + (k + 1) * self.stage() - 2];
            if *a != output {
                own[numbers(self.hidden)] = 0.0;
            }
        }
        gradient[self.conditional()..width].copy_from_slice(&of_shared);
        sum * weight
    }
}

impl Likelihood for Flow {
    fn is_steep(&self) -> bool {
        true
    }
    fn network(&self, name: &str, input: Shape) -> Result<Network, String> {
        let mut network = networks::build(name, input, self.conditional())?;
        let initial = Initial::Uniform { fan: self.hidden };
        network.then("flow", Layer::Append { numbers: BLOCKS * self.stage(), initial });
        Ok(network)
    }
    /// Draws, in the unit of the targets.
    fn predictions(&self, outputs: Vec<f32>, scaling: &Scaling) -> Vec<f32> {
        in_units(outputs, scaling)
    }
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>> {
        vec![draws(values, shape)]
    }
}
