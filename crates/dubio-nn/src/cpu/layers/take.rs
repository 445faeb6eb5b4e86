//! `Layer::Take`: some consecutive inputs.

use super::{Backward, Forward, Kernel};
use crate::real::Real;

pub(super) struct Take {
    pub first: usize,
    pub numbers: usize,
}

impl<T: Real> Kernel<T> for Take {
    fn forward(&self, pass: Forward<'_, T>) {
        let Self { first, numbers } = *self;
        let rows = pass.output.chunks_exact_mut(numbers);
        for (out, x) in rows.zip(pass.input.chunks_exact(pass.shape.size())) {
            out.copy_from_slice(&x[first..first + numbers]);
        }
    }

    fn backward(&self, pass: Backward<'_, T>) {
        let Self { first, numbers } = *self;
        let rows = pass.input_gradient.chunks_exact_mut(pass.shape.size());
        for (out, g) in rows.zip(pass.output_gradient.chunks_exact(numbers)) {
            out.fill(T::zero());
            out[first..first + numbers].copy_from_slice(g);
        }
    }
}
