//! Layers that work on each number by itself.

use super::{Backward, Forward, PIECE, each_piece};
use crate::real::Real;

/// Applies `f` to every number.
pub(super) fn forward<T: Real>(pass: Forward<'_, T>, f: impl Fn(T) -> T + Send + Sync) {
    let size = PIECE * pass.shape.size();
    each_piece(pass.input.len(), pass.output, size, &mut [], 0, |piece, out, _| {
        for (y, &x) in out.iter_mut().zip(&pass.input[piece * size..]) {
            *y = f(x);
        }
    });
}

/// Multiplies every gradient by `slope(x, y)`.
pub(super) fn backward<T: Real>(pass: Backward<'_, T>, slope: impl Fn(T, T) -> T + Send + Sync) {
    let size = PIECE * pass.shape.size();
    each_piece(pass.input.len(), pass.input_gradient, size, &mut [], 0, |piece, out, _| {
        let from = piece * size;
        let values = pass.input[from..].iter().zip(&pass.output[from..]);
        for ((gradient, (&x, &y)), &g) in
            out.iter_mut().zip(values).zip(&pass.output_gradient[from..])
        {
            *gradient = g * slope(x, y);
        }
    });
}
