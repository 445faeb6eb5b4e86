//! The fixed numbers of random features: `sqrt(2 / features) cos(W x + b)`.

use std::f64::consts::TAU;

use dubio_random::normal::normals;
use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;

use crate::layer::Directions;

/// What a layer of random features multiplies by and adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// `W`, `[features, inputs]`.
    pub directions: Vec<f64>,
    /// `b`, each in `[0, 2 pi)`.
    pub phases: Vec<f64>,
}

impl Numbers {
    /// `sqrt(2 / features)`: with it the products of features have the kernel as their mean.
    pub fn scale(&self) -> f64 {
        (2.0 / self.phases.len() as f64).sqrt()
    }
}

/// The numbers of a layer with this many inputs. They come from a stream of their own and are the same in every
/// network, as a kernel is. A layer with more features begins with the same ones.
pub fn draw(inputs: usize, features: usize, length_scale: f64, how: Directions) -> Numbers {
    let stream = Stream::root(0).child("random features");
    let row = |index: usize| normals(inputs, &stream.child("directions").nth(index));
    let mut rows: Vec<Vec<f64>> = (0..features).map(row).collect();
    if how == Directions::Orthogonal {
        for (block, rows) in rows.chunks_mut(inputs).enumerate() {
            orthogonalise(rows);
            for (index, row) in rows.iter_mut().enumerate() {
                let own = stream.child("lengths").nth(block * inputs + index);
                let other = normals(inputs, &own);
                let length = dot(&other, &other).sqrt();
                row.iter_mut().for_each(|x| *x *= length);
            }
        }
    }
    let directions = rows.concat().into_iter().map(|x| x / length_scale).collect();
    let phase = |index: usize| TAU * uniform(&mut stream.child("phases").nth(index).generator());
    Numbers { directions, phases: (0..features).map(phase).collect() }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Gram-Schmidt: each vector loses its parts along those before it and is scaled to length 1. There must be no more
/// vectors than each has numbers.
fn orthogonalise(vectors: &mut [Vec<f64>]) {
    for index in 0..vectors.len() {
        let (before, rest) = vectors.split_at_mut(index);
        let own = &mut rest[0];
        for other in &*before {
            let along = dot(own, other);
            own.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
        }
        let length = dot(own, own).sqrt();
        own.iter_mut().for_each(|x| *x /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean over pairs of points of the squared error of the kernel that this many features give.
    fn error(features: usize, length_scale: f64, how: Directions) -> f64 {
        let numbers = draw(5, features, length_scale, how);
        let map = |x: &[f64]| -> Vec<f64> {
            let each = numbers.directions.chunks(5).zip(&numbers.phases);
            each.map(|(w, b)| numbers.scale() * (dot(w, x) + b).cos()).collect()
        };
        let points: Vec<Vec<f64>> = (0..20).map(|n| normals(5, &Stream::root(1).nth(n))).collect();
        let maps: Vec<Vec<f64>> = points.iter().map(|x| map(x)).collect();
        let mut sum = 0.0;
        for (x, of_x) in points.iter().zip(&maps) {
            for (y, of_y) in points.iter().zip(&maps) {
                let squared: f64 = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum();
                let kernel = (-squared / (2.0 * length_scale.powi(2))).exp();
                sum += (dot(of_x, of_y) - kernel).powi(2);
            }
        }
        sum / 400.0
    }

    /// The variance of a product of features is below 1 / features, whatever the points are, so that the mean squared
    /// error falls with their number. With `1 / sqrt(features)` in the place of `sqrt(2 / features)` it stays above 1/10.
    #[test]
    fn products_of_features_approach_the_gaussian_kernel_as_there_are_more_of_them() {
        for length_scale in [1.0, 3.0] {
            for how in [Directions::Gaussian, Directions::Orthogonal] {
                for features in [100, 1_000, 10_000] {
                    let error = error(features, length_scale, how);
                    assert!(error < 2.0 / features as f64, "{length_scale} {how:?}: {error}");
                }
            }
        }
    }

    /// Rows at right angles in blocks, with squared lengths as those of normal vectors: mean `inputs`, variance `2 inputs`.
    #[test]
    fn orthogonal_directions_have_the_lengths_of_normal_ones() {
        let inputs = 7;
        let numbers = draw(inputs, 7 * 1000, 1.0, Directions::Orthogonal);
        let rows: Vec<&[f64]> = numbers.directions.chunks(inputs).collect();
        for block in rows.chunks(inputs) {
            for (i, x) in block.iter().enumerate() {
                for y in &block[..i] {
                    let cosine = dot(x, y) / (dot(x, x) * dot(y, y)).sqrt();
                    assert!(cosine.abs() < 1e-9, "{cosine}");
                }
            }
        }
        let squares: Vec<f64> = rows.iter().map(|row| dot(row, row)).collect();
        let count = squares.len() as f64;
        let mean = squares.iter().sum::<f64>() / count;
        let variance = squares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / count;
        assert!((mean - 7.0).abs() < 0.2 && (variance - 14.0).abs() < 1.5, "{mean} {variance}");
    }

    #[test]
    fn more_features_begin_with_the_same_ones() {
        let [few, many] = [4, 9].map(|features| draw(3, features, 2.0, Directions::Gaussian));
        assert_eq!(
            (&many.directions[..12], &many.phases[..4]),
            (&few.directions[..], &few.phases[..])
        );
    }
}
