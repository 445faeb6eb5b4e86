//! `Layer::Swish`: `x / (1 + exp(-x))`.

use super::{Backward, Forward, Kernel, activation};
use crate::real::Real;

pub(super) struct Swish;

fn sigmoid<T: Real>(x: T) -> T {
    T::one() / (T::one() + (-x).exp())
}

impl<T: Real> Kernel<T> for Swish {
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
