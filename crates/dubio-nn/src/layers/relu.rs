//! `relu`: max(0, x).

use super::{Backward, Forward, Layer, activation};
use crate::real::Real;
use crate::shape::Shape;

/// max(0, x).
pub struct Relu;

impl<T: Real> Layer<T> for Relu {
    fn kind(&self) -> &'static str {
        "relu"
    }
    fn output(&self, input: Shape) -> Shape {
        input
    }
    fn forward(&self, pass: Forward<'_, T>) {
        activation::forward(pass, |x| x.max(T::zero()));
    }
    fn backward(&self, pass: Backward<'_, T>) {
        activation::backward(pass, |_, y| if y > T::zero() { T::one() } else { T::zero() });
    }
}
