//! `Layer::Square`: `x^2`.

use super::{Backward, Forward, Kernel, activation};
use crate::real::Real;

pub(super) struct Square;

impl<T: Real> Kernel<T> for Square {
    fn forward(&self, pass: Forward<'_, T>) {
        activation::forward(pass, |x| x * x);
    }
    fn backward(&self, pass: Backward<'_, T>) {
        activation::backward(pass, |x, _| x + x);
    }
}
