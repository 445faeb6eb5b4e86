//! All of the curvature, as one matrix.

use dubio_random::normal::normals;
use dubio_random::stream::Stream;
use faer::{ColRef, Mat};

use super::{Eigen, Jacobian, LayerGradients, Spectrum, Sums, Weights, add_products};
use crate::error::Error;

/// `sum r r'`, with the gradients of all layers one after the other.
#[derive(Default)]
pub(super) struct Sum(Option<Mat<f64>>);

fn joined(layers: &[LayerGradients], example: usize) -> Vec<f64> {
    layers.iter().flat_map(|layer| layer.flat(example)).collect()
}

impl Sums for Sum {
    fn add(&mut self, _: usize, layers: &[LayerGradients]) {
        let Some(first) = layers.first() else { return };
        let all: Vec<Vec<f64>> = (0..first.examples()).map(|n| joined(layers, n)).collect();
        let side = all[0].len();
        let gradients = Mat::from_fn(side, all.len(), |i, n| all[n][i]);
        *self.0.get_or_insert_with(|| Mat::zeros(side, side)) += &gradients * gradients.transpose();
    }

    fn decompose(self: Box<Self>) -> Result<Box<dyn Spectrum>, Error> {
        let sum = self.0.unwrap_or_else(|| Mat::zeros(0, 0));
        Ok(Box::new(Full(Eigen::of(sum.as_ref())?)))
    }
}

/// The matrix by its eigenvectors.
pub(super) struct Full(Eigen);

impl Full {
    pub(super) fn read(weights: &[Weights], mut numbers: &[f64]) -> Self {
        let side = weights.iter().map(|weights| weights.parameters.len()).sum();
        Self(Eigen::read(side, &mut numbers))
    }

    /// `J (H + d)^-1 J'` of an example.
    fn covariance(&self, precision: f64, jacobian: &Jacobian, example: usize) -> Vec<f64> {
        let turned = |layers: &Vec<LayerGradients>| -> Vec<f64> {
            let gradient = joined(layers, example);
            let turned = self.0.vectors.transpose() * ColRef::from_slice(&gradient);
            turned.iter().copied().collect()
        };
        let rows: Vec<Vec<f64>> = jacobian.iter().map(turned).collect();
        let mut sums = vec![0.0; rows.len() * rows.len()];
        add_products(&mut sums, &rows, |i| 1.0 / (self.0.values[i] + precision));
        sums
    }
}

impl Spectrum for Full {
    fn scale(&mut self, factor: f64) {
        self.0.values.iter_mut().for_each(|value| *value *= factor);
    }

    fn numbers(&self) -> Vec<f64> {
        self.0.numbers()
    }

    fn eigenvalues(&self) -> Vec<f64> {
        self.0.values.clone()
    }

    fn draw(&self, weights: &[Weights], precision: f64, stream: &Stream) -> Vec<Vec<f64>> {
        let z = normals(self.0.values.len(), stream);
        let mut turned = self.0.vectors.transpose() * ColRef::from_slice(&z);
        for (z, value) in turned.iter_mut().zip(&self.0.values) {
            *z /= (value + precision).sqrt();
        }
        let drawn = &self.0.vectors * turned;
        let mut rest = drawn.iter().copied();
        weights.iter().map(|own| rest.by_ref().take(own.parameters.len()).collect()).collect()
    }

    fn covariances(&self, precision: f64, jacobian: &Jacobian, examples: usize) -> Vec<Vec<f64>> {
        (0..examples).map(|example| self.covariance(precision, jacobian, example)).collect()
    }
}
