//! `Layer::Add`: the sum of two branches.

use super::{Backward, Forward, Kernel};
use crate::real::Real;

pub(super) struct Add;

impl<T: Real> Kernel<T> for Add {
    fn forward(&self, pass: Forward<'_, T>) {
        for ((sum, a), b) in pass.output.iter_mut().zip(pass.input).zip(pass.others[0]) {
            *sum = *a + *b;
        }
    }
    fn backward(&self, pass: Backward<'_, T>) {
        let [second] = pass.other_gradients else { panic!("two inputs") };
        for gradient in [pass.input_gradient, second] {
            if !gradient.is_empty() {
                gradient.copy_from_slice(pass.output_gradient);
            }
        }
    }
}
