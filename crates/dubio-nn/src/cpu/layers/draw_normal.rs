//! `Layer::DrawNormal`: `y = mean + sqrt(variance) z`.

use dubio_random::numbered::Numbered;

use super::{Backward, Forward, Kernel, PIECE, each_piece};
use crate::layer::NORMAL_CHUNK;
use crate::real::Real;
use crate::shape::Shape;

pub(super) struct DrawNormal;

/// Replaces noise `z` by the derivative of the draw with respect to its variance, `z / (2 sqrt(variance))`, and gives
/// `sqrt(variance) z`. Where there is no variance, both are 0.
fn shift<T: Real>(z: &mut T, variance: T) -> T {
    let std = variance.max(T::zero()).sqrt();
    let shift = std * *z;
    *z = if std > T::zero() { *z / (std + std) } else { T::zero() };
    shift
}

impl<T: Real> Kernel<T> for DrawNormal {
    fn saved(&self, input: Shape, batch: usize) -> usize {
        input.size() * batch
    }
    fn forward(&self, pass: Forward<'_, T>) {
        let (means, variances, mode) = (pass.input, pass.others[0], pass.mode);
        let Some(stream) = pass.noise else {
            pass.saved.fill(T::zero());
            return pass.output.copy_from_slice(means);
        };
        let size = pass.shape.size();
        // A generator for each chunk of an example: draws do not depend on how a batch is cut.
        let (generators, chunks) = (Numbered::new(stream), size.div_ceil(NORMAL_CHUNK));
        let per_piece = PIECE * size;
        let work = 16 * pass.output.len();
        each_piece(work, pass.output, per_piece, pass.saved, per_piece, |piece, out, z| {
            z.fill(T::zero());
            for (index, z) in z[..out.len()].chunks_exact_mut(size).enumerate() {
                let first = mode.mask_of(piece * PIECE + index) * chunks;
                for (chunk, z) in z.chunks_mut(NORMAL_CHUNK).enumerate() {
                    T::add_normals(z, 1.0, &mut generators.nth(first + chunk));
                }
            }
            let from = piece * per_piece;
            let inputs = means[from..].iter().zip(&variances[from..]);
            for ((y, z), (mean, variance)) in out.iter_mut().zip(z).zip(inputs) {
                *y = *mean + shift(z, *variance);
            }
        });
    }
    fn backward(&self, pass: Backward<'_, T>) {
        if !pass.input_gradient.is_empty() {
            pass.input_gradient.copy_from_slice(pass.output_gradient);
        }
        let [of_variance] = pass.other_gradients else { panic!("two inputs") };
        let slopes = pass.output_gradient.iter().zip(pass.saved);
        for (gradient, (g, slope)) in of_variance.iter_mut().zip(slopes) {
            *gradient = *g * *slope;
        }
    }
}
