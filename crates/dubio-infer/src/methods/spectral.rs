//! Bounds on the spectral norms of hidden layers.

use dubio_nn::engine::Vector;
use dubio_nn::matrix::Matrix;
use dubio_random::normal::normals;
use dubio_random::stream::Stream;
use faer::MatRef;

use crate::curvature::Eigen;
use crate::error::Error;

/// The largest spectral norms that layers' matrices may have. For a convolution it is the norm of its kernel as a
/// matrix `[kernel kernel channels, channels out]`. Every number of an image is in at most `ceil(kernel / stride)^2`
/// windows, so the convolution as a whole has at most `ceil(kernel / stride)` times that norm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) linear: f64,
    pub(super) convolution: f64,
}

impl Bounds {
    fn of(self, layer: &Matrix) -> f64 {
        if layer.convolves() { self.convolution } else { self.linear }
    }
}

/// Layers whose norm is above its bound are scaled down to it: `W = min(1, bound / |W|) W`.
pub(super) struct Bounded {
    bounds: Bounds,
    /// A vector for each layer, which converges to the singular vector of the largest value; empty before the first
    /// step.
    pub(super) vectors: Vec<f64>,
    /// The largest norm that is left, as a fraction of its bound.
    pub(super) largest: f64,
}

impl Bounded {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self { bounds, vectors: Vec::new(), largest: 0.0 }
    }

    /// One step of power iteration for each layer, from where the last one ended: Miyato et al. 2018. The norm that it
    /// gives is never above the true one. Waits, since the weights come to the host.
    pub(super) fn step<V: Vector>(&mut self, theta: &mut V, layers: &[Matrix], stream: &Stream) {
        if self.vectors.is_empty() {
            let first = |(index, layer): (usize, &Matrix)| {
                let mut vector = normals(layer.columns, &stream.nth(index));
                normalise(&mut vector);
                vector
            };
            self.vectors = layers.iter().enumerate().flat_map(first).collect();
        }
        let mut rest = &mut self.vectors[..];
        for layer in layers {
            let (vector, others) = std::mem::take(&mut rest).split_at_mut(layer.columns);
            rest = others;
            let norm = iterate(&theta.read(layer.range.clone()), vector);
            shrink(theta, layer, norm, self.bounds.of(layer));
        }
    }

    /// The same with the true norms.
    pub(super) fn finish<V: Vector>(
        &mut self,
        theta: &mut V,
        layers: &[Matrix],
    ) -> Result<(), Error> {
        for layer in layers {
            let (norm, bound) =
                (norm(&theta.read(layer.range.clone()), layer)?, self.bounds.of(layer));
            shrink(theta, layer, norm, bound);
            self.largest = self.largest.max((norm / bound).min(1.0));
        }
        Ok(())
    }
}

fn shrink<V: Vector>(theta: &mut V, layer: &Matrix, norm: f64, bound: f64) {
    if norm > bound {
        let mut weights = theta.part(layer.range.clone());
        weights.scale(bound / norm);
        theta.put(layer.range.start, &weights);
    }
}

/// Sets `v` to `W' W v`, scaled to length 1, going through `W` row by row; gives the length of `W v`.
fn iterate(weights: &[f64], vector: &mut [f64]) -> f64 {
    let (mut next, mut squares) = (vec![0.0; vector.len()], 0.0);
    for row in weights.chunks_exact(vector.len()) {
        let along: f64 = row.iter().zip(&*vector).map(|(w, v)| w * v).sum();
        squares += along * along;
        next.iter_mut().zip(row).for_each(|(next, w)| *next += along * w);
    }
    // Weights that are all 0, or not finite, leave the vector as it is.
    if normalise(&mut next) {
        vector.copy_from_slice(&next);
    }
    squares.sqrt()
}

/// Scales a vector to length 1, if its length is finite and above 0; says whether it was.
fn normalise(vector: &mut [f64]) -> bool {
    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    let has_length = length.is_finite() && length > 0.0;
    if has_length {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    has_length
}

/// The largest singular value: the root of the largest eigenvalue of `W W'` or `W' W`, whichever is smaller.
fn norm(weights: &[f64], layer: &Matrix) -> Result<f64, Error> {
    let (rows, columns) = (weights.len() / layer.columns, layer.columns);
    let matrix = MatRef::from_row_major_slice(weights, rows, columns);
    let products = match rows < columns {
        true => matrix * matrix.transpose(),
        false => matrix.transpose() * matrix,
    };
    let values = Eigen::of(products.as_ref())?.values;
    Ok(values.into_iter().fold(0.0, f64::max).sqrt())
}
