//! `elu`: x above 0, exp(x) - 1 below: Clevert et al. 2016.

use super::{Backward, Forward, Layer, activation};
use crate::real::Real;
use crate::shape::Shape;

/// x above 0, exp(x) - 1 below: Clevert et al. 2016.
pub struct Elu;

impl<T: Real> Layer<T> for Elu {
    fn kind(&self) -> &'static str {
        "elu"
    }
    fn output(&self, input: Shape) -> Shape {
        input
    }
    fn forward(&self, pass: Forward<'_, T>) {
        activation::forward(pass, |x| if x > T::zero() { x } else { x.exp_m1() });
    }
    fn backward(&self, pass: Backward<'_, T>) {
        activation::backward(pass, |x, y| if x > T::zero() { T::one() } else { y + T::one() });
    }
}
