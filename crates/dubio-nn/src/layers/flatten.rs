//! `flatten`: a picture as a vector.

use super::{Backward, Forward, Layer};
use crate::real::Real;
use crate::shape::Shape;

/// The same numbers, as a plain vector: height, width, channels, the last running fastest.
/// (PyTorch's runs channels, height, width; weights that follow are permuted when they are read.)
pub struct Flatten;

impl<T: Real> Layer<T> for Flatten {
    fn kind(&self) -> &'static str {
        "flatten"
    }
    fn output(&self, input: Shape) -> Shape {
        Shape::vector(input.size())
    }
    fn forward(&self, pass: Forward<'_, T>) {
        pass.output.copy_from_slice(pass.input);
    }
    fn backward(&self, pass: Backward<'_, T>) {
        pass.input_gradient.copy_from_slice(pass.output_gradient);
    }
}
