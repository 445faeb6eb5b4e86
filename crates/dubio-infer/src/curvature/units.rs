//! Curvature of every unit by itself: a block for each row of a layer's weights with its bias.

use dubio_random::normal::normals;
use dubio_random::stream::Stream;
use faer::{ColRef, Mat, MatRef};
use rayon::prelude::*;

use super::{Eigen, Jacobian, LayerGradients, Spectrum, Sums, Weights, add_products};
use crate::error::Error;

/// The blocks of every layer, summed.
#[derive(Default)]
pub(super) struct Sum(Vec<Blocks>);

/// For each unit of a layer `sum r r'`, with `r` its row of the gradients.
struct Blocks {
    blocks: Vec<Mat<f64>>,
    chunk: Option<Chunk>,
}

/// Some examples of a layer with one place, where the row of a unit is `g a` with the same `a` for every root.
struct Chunk {
    /// `a`, `[columns, examples]`.
    inputs: Mat<f64>,
    /// `g^2` of every unit, summed over the roots, `[examples, units]`.
    squares: Mat<f64>,
}

impl Blocks {
    fn new(weights: &Weights) -> Self {
        let side = weights.columns;
        Self { blocks: vec![Mat::zeros(side, side); weights.outputs], chunk: None }
    }

    fn add(&mut self, root: usize, layer: &LayerGradients) {
        if layer.places() > 1 {
            return (0..layer.examples()).for_each(|n| self.add_rows(layer.matrix(n).as_ref()));
        }
        if root == 0 {
            self.settle();
            let squares = Mat::zeros(layer.examples(), self.blocks.len());
            self.chunk = Some(Chunk { inputs: layer.read(0..layer.examples()), squares });
        }
        let Some(chunk) = &mut self.chunk else { return };
        for n in 0..layer.examples() {
            for (unit, g) in layer.at_outputs(n..n + 1).row(0).iter().enumerate() {
                chunk.squares[(n, unit)] += g * g;
            }
        }
    }

    fn add_rows(&mut self, gradient: MatRef<'_, f64>) {
        for (block, row) in self.blocks.iter_mut().zip(gradient.row_iter()) {
            *block += row.transpose() * row;
        }
    }

    /// Adds the last chunk: `sum_n g_n^2 a_n a_n'` for each unit.
    fn settle(&mut self) {
        let Some(Chunk { inputs, squares }) = self.chunk.take() else { return };
        self.blocks.par_iter_mut().enumerate().for_each(|(unit, block)| {
            let weighted = Mat::from_fn(inputs.nrows(), inputs.ncols(), |j, n| {
                squares[(n, unit)] * inputs[(j, n)]
            });
            *block += weighted * inputs.transpose();
        });
    }
}

impl Sums for Sum {
    fn add(&mut self, root: usize, layers: &[LayerGradients]) {
        if self.0.is_empty() {
            self.0 = layers.iter().map(|layer| Blocks::new(&layer.weights)).collect();
        }
        self.0.iter_mut().zip(layers).for_each(|(blocks, layer)| blocks.add(root, layer));
    }

    fn decompose(self: Box<Self>) -> Result<Box<dyn Spectrum>, Error> {
        let layer = |mut blocks: Blocks| {
            blocks.settle();
            blocks.blocks.par_iter().map(|block| Eigen::of(block.as_ref())).collect()
        };
        let layers = self.0.into_iter().map(layer).collect::<Result<_, Error>>()?;
        Ok(Box::new(Units(layers)))
    }
}

/// Every layer's units.
pub(super) struct Units(Vec<Vec<Eigen>>);

impl Units {
    pub(super) fn read(weights: &[Weights], mut numbers: &[f64]) -> Self {
        let mut layer = |own: &Weights| {
            (0..own.outputs).map(|_| Eigen::read(own.columns, &mut numbers)).collect()
        };
        Self(weights.iter().map(&mut layer).collect())
    }

    /// Adds the part of a layer to `J (H + d)^-1 J'` of every example.
    fn add_covariances(
        &self,
        d: f64,
        (jacobian, layer): (&Jacobian, usize),
        sums: &mut [Vec<f64>],
    ) {
        let units = &self.0[layer];
        let of = |output: usize| &jacobian[output][layer];
        if of(0).places() > 1 {
            for (n, sums) in sums.iter_mut().enumerate() {
                for (unit, eigen) in units.iter().enumerate() {
                    let turn = |of: &Vec<LayerGradients>| {
                        turned(eigen, of[layer].matrix(n).row(unit).transpose())
                    };
                    let rows: Vec<Vec<f64>> = jacobian.iter().map(turn).collect();
                    add_products(sums, &rows, |i| 1.0 / (eigen.values[i] + d));
                }
            }
            return;
        }
        let inputs = of(0).read(0..sums.len());
        let spread = |eigen: &Eigen| eigen.spread(inputs.as_ref(), d);
        let spread: Vec<Vec<f64>> = units.par_iter().map(spread).collect();
        for (n, sums) in sums.iter_mut().enumerate() {
            let row = |output: usize| -> Vec<f64> {
                of(output).at_outputs(n..n + 1).row(0).iter().copied().collect()
            };
            let rows: Vec<Vec<f64>> = (0..jacobian.len()).map(row).collect();
            add_products(sums, &rows, |unit| spread[unit][n]);
        }
    }
}

fn turned(eigen: &Eigen, vector: ColRef<'_, f64>) -> Vec<f64> {
    (eigen.vectors.transpose() * vector).iter().copied().collect()
}

impl Eigen {
    /// `a' (H + d)^-1 a` for each column.
    fn spread(&self, columns: MatRef<'_, f64>, d: f64) -> Vec<f64> {
        let turned = self.vectors.transpose() * columns;
        let of = |n: usize| {
            let each = self.values.iter().enumerate();
            each.map(|(j, value)| turned[(j, n)].powi(2) / (value + d)).sum()
        };
        (0..columns.ncols()).map(of).collect()
    }
}

impl Spectrum for Units {
    fn scale(&mut self, factor: f64) {
        let values = self.0.iter_mut().flatten().flat_map(|eigen| &mut eigen.values);
        values.for_each(|value| *value *= factor);
    }

    fn numbers(&self) -> Vec<f64> {
        self.0.iter().flatten().flat_map(Eigen::numbers).collect()
    }

    fn eigenvalues(&self) -> Vec<f64> {
        self.0.iter().flatten().flat_map(|eigen| eigen.values.clone()).collect()
    }

    fn draw(&self, weights: &[Weights], precision: f64, stream: &Stream) -> Vec<Vec<f64>> {
        let layer = |(index, (units, weights)): (usize, (&Vec<Eigen>, &Weights))| {
            let stream = stream.nth(index);
            let row = |(unit, eigen): (usize, &Eigen)| -> Vec<f64> {
                let z = normals(weights.columns, &stream.nth(unit));
                let mut z = turned(eigen, ColRef::from_slice(&z));
                let each = z.iter_mut().zip(&eigen.values);
                each.for_each(|(z, value)| *z /= (value + precision).sqrt());
                (&eigen.vectors * ColRef::from_slice(&z)).iter().copied().collect()
            };
            let rows: Vec<Vec<f64>> = units.iter().enumerate().map(row).collect();
            weights.flat(Mat::from_fn(rows.len(), weights.columns, |i, j| rows[i][j]).as_ref())
        };
        self.0.iter().zip(weights).enumerate().map(layer).collect()
    }

    /// All examples together: reading the eigenvectors anew for every example would take longer than the products.
    fn covariances(&self, precision: f64, jacobian: &Jacobian, examples: usize) -> Vec<Vec<f64>> {
        let mut sums = vec![vec![0.0; jacobian.len().pow(2)]; examples];
        for layer in 0..self.0.len() {
            self.add_covariances(precision, (jacobian, layer), &mut sums);
        }
        sums
    }
}
