//! The diagonal of the curvature.

use dubio_random::normal::normals;
use dubio_random::stream::Stream;

use super::{Jacobian, LayerGradients, Spectrum, Sums, Weights, add_products};
use crate::error::Error;

/// Squares of gradients, summed.
#[derive(Default)]
pub(super) struct Sum(Vec<Vec<f64>>);

impl Sums for Sum {
    fn add(&mut self, _: usize, layers: &[LayerGradients]) {
        self.0.resize_with(layers.len(), Vec::new);
        for (sums, layer) in self.0.iter_mut().zip(layers) {
            sums.resize(layer.weights.parameters.len(), 0.0);
            sums.iter_mut().zip(layer.squares()).for_each(|(sum, square)| *sum += square);
        }
    }

    fn decompose(self: Box<Self>) -> Result<Box<dyn Spectrum>, Error> {
        Ok(Box::new(Diagonal(self.0)))
    }
}

/// The diagonal, layer by layer.
pub(super) struct Diagonal(Vec<Vec<f64>>);

impl Diagonal {
    pub(super) fn read(weights: &[Weights], mut numbers: &[f64]) -> Self {
        let layer = |weights: &Weights| {
            let (own, rest) = numbers.split_at(weights.parameters.len());
            numbers = rest;
            own.to_vec()
        };
        Self(weights.iter().map(layer).collect())
    }

    /// `J (H + d)^-1 J'` of an example.
    fn covariance(&self, precision: f64, jacobian: &Jacobian, example: usize) -> Vec<f64> {
        let mut sums = vec![0.0; jacobian.len() * jacobian.len()];
        for (layer, diagonal) in self.0.iter().enumerate() {
            let rows: Vec<Vec<f64>> = jacobian.iter().map(|of| of[layer].flat(example)).collect();
            add_products(&mut sums, &rows, |i| 1.0 / (diagonal[i] + precision));
        }
        sums
    }
}

impl Spectrum for Diagonal {
    fn scale(&mut self, factor: f64) {
        self.0.iter_mut().flatten().for_each(|value| *value *= factor);
    }

    fn numbers(&self) -> Vec<f64> {
        self.0.concat()
    }

    fn eigenvalues(&self) -> Vec<f64> {
        self.0.concat()
    }

    fn draw(&self, _: &[Weights], precision: f64, stream: &Stream) -> Vec<Vec<f64>> {
        let layer = |(index, diagonal): (usize, &Vec<f64>)| {
            let z = normals(diagonal.len(), &stream.nth(index)).into_iter().zip(diagonal);
            z.map(|(z, h)| z / (h + precision).sqrt()).collect()
        };
        self.0.iter().enumerate().map(layer).collect()
    }

    fn covariances(&self, precision: f64, jacobian: &Jacobian, examples: usize) -> Vec<Vec<f64>> {
        (0..examples).map(|example| self.covariance(precision, jacobian, example)).collect()
    }
}
