//! `Layer::Flatten`: the same numbers as a vector.

use super::{Backward, Forward, Kernel};
use crate::real::Real;

pub(super) struct Flatten;

impl<T: Real> Kernel<T> for Flatten {
    fn forward(&self, pass: Forward<'_, T>) {
        pass.output.copy_from_slice(pass.input);
    }
    fn backward(&self, pass: Backward<'_, T>) {
        pass.input_gradient.copy_from_slice(pass.output_gradient);
    }
}
