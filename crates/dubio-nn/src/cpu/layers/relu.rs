//! `Layer::Relu`: max(0, x).

use super::{Backward, Forward, Kernel, activation};
use crate::real::Real;

pub(super) struct Relu;

impl<T: Real> Kernel<T> for Relu {
    fn forward(&self, pass: Forward<'_, T>) {
        activation::forward(pass, |x| x.max(T::zero()));
    }
    fn backward(&self, pass: Backward<'_, T>) {
        activation::backward(pass, |_, y| if y > T::zero() { T::one() } else { T::zero() });
    }
}
