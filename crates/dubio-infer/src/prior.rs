//! Priors over parameters.

use std::ops::Range;

use dubio_nn::engine::Vector;

/// A prior: `-log p(theta)` up to a constant, and its gradient.
///
/// Methods that look at mini-batches move `U / N`, so gradients are asked for over a number of examples.
pub trait Prior<V: Vector>: Send + Sync {
    /// `-log p(theta)`, up to a constant. Waits.
    fn value(&self, theta: &V) -> f64;
    /// `to += a grad(-log p)(theta) / examples`.
    fn add_gradient(&self, a: f64, examples: f64, theta: &V, to: &mut V);
    /// Whether its gradient is 0 everywhere.
    fn is_flat(&self) -> bool {
        false
    }
    /// The prior of a stretch of the parameters by itself, the others being fixed.
    fn part(&self, range: Range<usize>) -> Box<dyn Prior<V>>;
}

/// `Normal(0, 1 / precision)` on every parameter; flat where the precision is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaussian {
    /// `1 / s^2`.
    pub precision: f64,
}

impl<V: Vector> Prior<V> for Gaussian {
    fn value(&self, theta: &V) -> f64 {
        0.5 * self.precision * theta.dot(theta)
    }
    fn add_gradient(&self, a: f64, examples: f64, theta: &V, to: &mut V) {
        to.axpy(a * (self.precision / examples), theta);
    }
    fn is_flat(&self) -> bool {
        self.precision == 0.0
    }
    fn part(&self, _: Range<usize>) -> Box<dyn Prior<V>> {
        Box::new(*self)
    }
}
