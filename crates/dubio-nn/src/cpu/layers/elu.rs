//! `Layer::Elu`: x above 0, exp(x) - 1 below: Clevert et al. 2016.

use super::{Backward, Forward, Kernel, activation};
use crate::real::Real;

pub(super) struct Elu;

impl<T: Real> Kernel<T> for Elu {
    fn forward(&self, pass: Forward<'_, T>) {
        activation::forward(pass, |x| if x > T::zero() { x } else { x.exp_m1() });
    }
    fn backward(&self, pass: Backward<'_, T>) {
        activation::backward(pass, |x, y| if x > T::zero() { T::one() } else { y + T::one() });
    }
}
