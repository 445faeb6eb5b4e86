//! Where published code and papers part ways: each of these is a mistake that somebody shipped.

#[path = "../support/mod.rs"]
mod support;

mod averages;
mod dropout;
mod gaussian_process;
mod samplers;
mod variational;

use dubio_infer::fit::Options;
use dubio_infer::fitted::Fitted;
use dubio_infer::recipe::Recipe;
use dubio_nn::cpu::Flat;
use dubio_nn::matrix::{Matrix, Reads, Side};
use dubio_nn::parameter::Slice;
use dubio_random::stream::Stream;
use support::*;

/// The processor itself: these tests look into its vectors.
pub(crate) type Single = dubio_nn::cpu::Cpu<f32>;

/// A loss with the same slope everywhere: what moves is the method alone.
pub(crate) struct Plane {
    pub(crate) examples: usize,
    pub(crate) batches: usize,
    pub(crate) precision: f64,
    pub(crate) slope: f64,
    /// Whether its gradient is clipped.
    pub(crate) is_steep: bool,
    pub(crate) start: f64,
    pub(crate) dimensions: usize,
    /// Parameters that they are divided among.
    pub(crate) tensors: usize,
    /// The first coordinate wherever a gradient was asked for.
    pub(crate) visited: Vec<f64>,
}

impl Plane {
    pub(crate) fn flat(examples: usize, dimensions: usize) -> Self {
        let (batches, precision, slope, start, tensors) = (1, 0.0, 0.0, 0.0, 1);
        let visited = Vec::new();
        let is_steep = false;
        Self { examples, batches, precision, slope, is_steep, start, dimensions, tensors, visited }
    }
}

impl Analytic for Plane {
    fn examples(&self) -> usize {
        self.examples
    }
    fn prior_precision(&self) -> f64 {
        self.precision
    }
    fn is_steep(&self) -> bool {
        self.is_steep
    }
    fn batches(&self) -> usize {
        self.batches
    }
    fn start(&self) -> Flat<f64> {
        Flat(vec![self.start; self.dimensions])
    }
    fn slices(&self) -> Vec<Slice> {
        let size = self.dimensions / self.tensors;
        let each = (0..self.tensors)
            .map(|i| Slice { name: format!("layer{i}.weight"), range: i * size..(i + 1) * size });
        each.collect()
    }
    fn matrices(&self) -> Vec<Matrix> {
        let (inputs, reads, range) = (Side::Columns, Reads::Data, 0..self.dimensions);
        vec![Matrix { rows: 1, columns: range.len(), range, inputs, bias: 0..0, reads }]
    }
    fn batch(&mut self, theta: &Flat<f64>, _: usize, _: usize, out: &mut Flat<f64>) -> f64 {
        self.visited.push(theta.0[0]);
        self.whole(theta, out)
    }
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
        out.0.fill(self.slope);
        self.whole_loss(theta)
    }
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
        self.slope * theta.0.iter().sum::<f64>()
    }
}

pub(crate) fn variance(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64
}

pub(crate) fn close(value: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((value / expected - 1.0).abs() < tolerance, "{what}: {value}, not {expected}");
}

pub(crate) fn on_digits(recipe: &Recipe, network: &str, examples: u32) -> Fitted<Single> {
    let fit = recipe.fit(
        &Single::default(),
        network,
        &digits(examples),
        &Stream::root(7),
        &Options::default(),
    );
    fit.unwrap_or_else(|e| panic!("{}: {}", recipe.method.card().name, e.error))
}
