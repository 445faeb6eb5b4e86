//! `Layer::Append`: learnt numbers behind the inputs.

use super::{Backward, Forward, Kernel};
use crate::real::Real;
use crate::shape::Shape;

pub(super) struct Append {
    pub numbers: usize,
}

impl<T: Real> Kernel<T> for Append {
    fn sums(&self, _: Shape) -> usize {
        self.numbers
    }

    fn forward(&self, pass: Forward<'_, T>) {
        let inputs = pass.shape.size();
        let rows = pass.output.chunks_exact_mut(inputs + pass.theta.len());
        for (out, x) in rows.zip(pass.input.chunks_exact(inputs)) {
            out[..inputs].copy_from_slice(x);
            out[inputs..].copy_from_slice(pass.theta);
        }
    }

    fn backward(&self, pass: Backward<'_, T>) {
        let (inputs, numbers) = (pass.shape.size(), pass.theta.len());
        let rows = || pass.output_gradient.chunks_exact(inputs + numbers);
        let sums = &mut pass.sums[..numbers];
        sums.fill(0.0);
        for row in rows() {
            sums.iter_mut().zip(&row[inputs..]).for_each(|(sum, g)| *sum += g.wide());
        }
        for (gradient, sum) in pass.gradient.iter_mut().zip(&*sums) {
            *gradient = *gradient + T::of(*sum);
        }
        // Empty where nobody asks for it.
        for (out, row) in pass.input_gradient.chunks_exact_mut(inputs).zip(rows()) {
            out.copy_from_slice(&row[..inputs]);
        }
    }
}
