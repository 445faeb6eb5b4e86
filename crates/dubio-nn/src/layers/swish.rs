//! `swish`: `x / (1 + exp(-x))`.

use super::{Backward, Forward, Layer, activation};
use crate::real::Real;
use crate::shape::Shape;

/// `x sigmoid(x)`: Ramachandran et al. 2017; also called SiLU.
pub struct Swish;

fn sigmoid<T: Real>(x: T) -> T {
    T::one() / (T::one() + (-x).exp())
}

impl<T: Real> Layer<T> for Swish {
    fn kind(&self) -> &'static str {
        "swish"
    }
    fn output(&self, input: Shape) -> Shape {
        input
    }
    fn forward(&self, pass: Forward<'_, T>) {
        activation::forward(pass, |x| x * sigmoid(x));
    }
    fn backward(&self, pass: Backward<'_, T>) {
        activation::backward(pass, |x, y| {
            let s = sigmoid(x);
            s + y * (T::one() - s)
        });
    }
}
