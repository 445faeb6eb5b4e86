//! `Layer::Linear`: `y = x W^T + b`.

use rayon::prelude::*;

use super::{Backward, Forward, Kernel, WORTH_SHARING};
use crate::cpu::matrix::{Matrix, Store, multiply};
use crate::real::Real;

pub(super) struct Linear {
    pub outputs: usize,
}

/// Rows of a product that are worked out together, roughly. Every block packs the other factor anew,
/// and blocks of one size leave no thread waiting for the last.
fn block(rows: usize) -> usize {
    let blocks = if rows <= 256 { rows.div_ceil(64) } else { 4 };
    rows.div_ceil(blocks.max(1)).next_multiple_of(2)
}

impl Linear {
    fn split<'a, T>(&self, theta: &'a [T]) -> (&'a [T], &'a [T]) {
        theta.split_at(theta.len() - self.outputs)
    }
}

/// Calls `f(first row, rows of out)` for blocks of rows.
pub(super) fn by_rows<T: Real>(
    work: usize,
    out: &mut [T],
    width: usize,
    f: impl Fn(usize, &mut [T]) + Send + Sync,
) {
    let size = block(out.len() / width);
    if work < WORTH_SHARING {
        out.chunks_mut(size * width).enumerate().for_each(|(i, rows)| f(i * size, rows));
    } else {
        out.par_chunks_mut(size * width).enumerate().for_each(|(i, rows)| f(i * size, rows));
    }
}

impl<T: Real> Kernel<T> for Linear {
    fn forward(&self, pass: Forward<'_, T>) {
        let (inputs, outputs) = (pass.shape.size(), self.outputs);
        let (weight, bias) = self.split(pass.theta);
        let weight = Matrix::new(weight, outputs, inputs).transposed();
        let work = 2 * pass.batch * inputs * outputs;
        by_rows(work, pass.output, outputs, |first, out| {
            let rows = out.len() / outputs;
            out.chunks_exact_mut(outputs).for_each(|row| row.copy_from_slice(bias));
            let x = Matrix::new(&pass.input[first * inputs..], rows, inputs);
            multiply(x, weight, out, Store::Add);
        });
    }

    fn backward(&self, pass: Backward<'_, T>) {
        let (inputs, outputs) = (pass.shape.size(), self.outputs);
        let work = 2 * pass.batch * inputs * outputs;
        let (weight, _) = self.split(pass.theta);
        let at = pass.gradient.len() - outputs;
        let (weight_gradient, bias_gradient) = pass.gradient.split_at_mut(at);
        for row in pass.output_gradient.chunks_exact(outputs) {
            for (sum, g) in bias_gradient.iter_mut().zip(row) {
                *sum = *sum + *g;
            }
        }
        // Blocks of outputs, not of examples: each sum over the batch stays in one piece.
        let x = Matrix::new(pass.input, pass.batch, inputs);
        let size = block(outputs);
        if work < WORTH_SHARING || size >= outputs {
            let g = Matrix::new(pass.output_gradient, pass.batch, outputs).transposed();
            multiply(g, x, weight_gradient, Store::Add);
        } else {
            weight_gradient.par_chunks_mut(size * inputs).enumerate().for_each(|(block, out)| {
                let rows = out.len() / inputs;
                let g = Matrix::columns_of(
                    pass.output_gradient,
                    pass.batch,
                    outputs,
                    block * size..block * size + rows,
                );
                multiply(g.transposed(), x, out, Store::Add);
            });
        }
        let weight = Matrix::new(weight, outputs, inputs);
        if !pass.input_gradient.is_empty() {
            by_rows(work, pass.input_gradient, inputs, |first, out| {
                let rows = out.len() / inputs;
                let g = Matrix::new(&pass.output_gradient[first * outputs..], rows, outputs);
                multiply(g, weight, out, Store::Replace);
            });
        }
    }
}
