//! Kronecker-factored curvature: for each layer `G x A`.

use dubio_random::normal::normals;
use dubio_random::stream::Stream;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::{Eigen, Jacobian, LayerGradients, Spectrum, Sums, Weights, add_products};
use crate::error::Error;

/// The most examples times places in one product, for which the windows of a convolution are copied.
const ROWS: usize = 1024;

/// `A` and `G` of every layer, summed.
#[derive(Default)]
pub(super) struct Sum(Vec<Factors>);

/// Factors of a layer: `G = sum g g'` over examples, places and roots; `A = sum a a'` over examples and places, which
/// is later divided by their number. Only the lower half of each is kept. For one example with one place, `G x A` is
/// the curvature itself.
struct Factors {
    inputs: Mat<f64>,
    gradients: Mat<f64>,
    places: usize,
}

impl Factors {
    fn add(&mut self, root: usize, layer: &LayerGradients) {
        let (all, places) = (layer.examples(), layer.places());
        let step = (ROWS / places).max(1);
        for first in (0..all).step_by(step) {
            let examples = first..all.min(first + step);
            let gradients = layer.at_outputs(examples.clone());
            add_square(&mut self.gradients, gradients.transpose());
            // What the units read is the same for every root.
            if root == 0 {
                self.places += examples.len() * places;
                add_square(&mut self.inputs, layer.read(examples).as_ref());
            }
        }
    }
}

/// Adds the lower half of `X X'`.
fn add_square(sum: &mut Mat<f64>, x: MatRef<'_, f64>) {
    use BlockStructure::{Rectangular, TriangularLower};
    triangular::matmul(
        sum.as_mut(),
        TriangularLower,
        Accum::Add,
        x,
        Rectangular,
        x.transpose(),
        Rectangular,
        1.0,
        Par::Seq,
    );
}

impl Sums for Sum {
    fn add(&mut self, root: usize, layers: &[LayerGradients]) {
        if self.0.is_empty() {
            let square = |side| Mat::zeros(side, side);
            let empty = |layer: &LayerGradients| Factors {
                inputs: square(layer.weights.columns),
                gradients: square(layer.weights.outputs),
                places: 0,
            };
            self.0 = layers.iter().map(empty).collect();
        }
        self.0.par_iter_mut().zip(layers).for_each(|(factors, layer)| factors.add(root, layer));
    }

    fn decompose(self: Box<Self>) -> Result<Box<dyn Spectrum>, Error> {
        let layer = |Factors { inputs, gradients, places }: Factors| {
            let mut inputs = Eigen::of(inputs.as_ref())?;
            inputs.values.iter_mut().for_each(|value| *value /= places as f64);
            Ok(Layer { inputs, gradients: Eigen::of(gradients.as_ref())? })
        };
        let layers = self.0.into_iter().map(layer).collect::<Result<_, Error>>()?;
        Ok(Box::new(Kronecker(layers)))
    }
}

struct Layer {
    inputs: Eigen,
    gradients: Eigen,
}

impl Layer {
    /// Eigenvalue of `G x A` for a pair of eigenvectors.
    fn value(&self, output: usize, column: usize) -> f64 {
        self.gradients.values[output] * self.inputs.values[column]
    }

    /// `U_G' J U_A` of an example, column by column.
    fn turned(&self, gradients: &LayerGradients, example: usize) -> Vec<f64> {
        let matrix = gradients.matrix(example);
        let turned = self.gradients.vectors.transpose() * matrix * &self.inputs.vectors;
        turned.col_iter().flat_map(|column| column.iter().copied().collect::<Vec<_>>()).collect()
    }

    /// The same where there is one place, so that every gradient is a product `g a'` with the same `a`:
    /// `U_G' g` for each output of the network, and `sum_j (U_A' a)_j^2 / (value_ij + d)`.
    fn apart(
        &self,
        jacobian: &Jacobian,
        at: usize,
        example: usize,
        d: f64,
    ) -> (Vec<Vec<f64>>, Vec<f64>) {
        let turn = |of: &Vec<LayerGradients>| -> Vec<f64> {
            let turned = of[at].at_outputs(example..example + 1) * &self.gradients.vectors;
            turned.row(0).iter().copied().collect()
        };
        let read = self.inputs.vectors.transpose() * jacobian[0][at].read(example..example + 1);
        let weight = |output: usize| {
            let each = read.col(0).iter().enumerate();
            each.map(|(j, a)| a * a / (self.value(output, j) + d)).sum()
        };
        let weights = (0..self.gradients.values.len()).map(weight).collect();
        (jacobian.iter().map(turn).collect(), weights)
    }
}

/// Every layer's factors.
pub(super) struct Kronecker(Vec<Layer>);

impl Kronecker {
    pub(super) fn read(weights: &[Weights], mut numbers: &[f64]) -> Self {
        let layer = |weights: &Weights| Layer {
            inputs: Eigen::read(weights.columns, &mut numbers),
            gradients: Eigen::read(weights.outputs, &mut numbers),
        };
        Self(weights.iter().map(layer).collect())
    }

    /// `J (H + d)^-1 J'` of an example.
    fn covariance(&self, precision: f64, jacobian: &Jacobian, example: usize) -> Vec<f64> {
        let count = jacobian.len();
        let mut sums = vec![0.0; count * count];
        for (at, layer) in self.0.iter().enumerate() {
            if jacobian[0][at].places() == 1 {
                let (rows, weights) = layer.apart(jacobian, at, example, precision);
                add_products(&mut sums, &rows, |i| weights[i]);
                continue;
            }
            let turned = |of: &Vec<LayerGradients>| layer.turned(&of[at], example);
            let rows: Vec<Vec<f64>> = jacobian.iter().map(turned).collect();
            let outputs = layer.gradients.values.len();
            let weight = |i: usize| 1.0 / (layer.value(i % outputs, i / outputs) + precision);
            add_products(&mut sums, &rows, weight);
        }
        sums
    }
}

impl Spectrum for Kronecker {
    fn scale(&mut self, factor: f64) {
        let values = self.0.iter_mut().flat_map(|layer| &mut layer.gradients.values);
        values.for_each(|value| *value *= factor);
    }

    fn numbers(&self) -> Vec<f64> {
        self.0
            .iter()
            .flat_map(|layer| [layer.inputs.numbers(), layer.gradients.numbers()].concat())
            .collect()
    }

    fn eigenvalues(&self) -> Vec<f64> {
        let of = |layer: &Layer| {
            let (g, a) = (&layer.gradients.values, &layer.inputs.values);
            g.iter().flat_map(|g| a.iter().map(move |a| g * a)).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of).collect()
    }

    fn draw(&self, weights: &[Weights], precision: f64, stream: &Stream) -> Vec<Vec<f64>> {
        let layer = |(index, (layer, weights)): (usize, (&Layer, &Weights))| {
            let Weights { outputs, columns, .. } = *weights;
            let z = normals(outputs * columns, &stream.nth(index));
            let z = MatRef::from_row_major_slice(&z, outputs, columns);
            let (left, right) = (&layer.gradients.vectors, &layer.inputs.vectors);
            let turned = left.transpose() * z * right;
            let scaled = Mat::from_fn(outputs, columns, |i, j| {
                turned[(i, j)] / (layer.value(i, j) + precision).sqrt()
            });
            let drawn = left * scaled * right.transpose();
            weights.flat(drawn.as_ref())
        };
        self.0.iter().zip(weights).enumerate().map(layer).collect()
    }

    fn covariances(&self, precision: f64, jacobian: &Jacobian, examples: usize) -> Vec<Vec<f64>> {
        (0..examples).map(|example| self.covariance(precision, jacobian, example)).collect()
    }
}
