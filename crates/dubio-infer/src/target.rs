//! What inference samples from, as it sees it: a function of one flat vector.

use dubio_nn::engine::{Slice, Vector};

/// The posterior `exp(-U)`, with `U(theta) = N loss(theta) + |theta|^2 / (2 s^2)`: the mean loss over
/// `N` examples and a prior `Normal(0, s^2)` on every parameter.
pub trait Target {
    /// The flat vector.
    type Vector: Vector;
    /// `N`.
    fn examples(&self) -> usize;
    /// `1 / s^2`; 0 for a flat prior.
    fn prior_precision(&self) -> f64;
    /// Whether gradients can be of any size, so that steps have to be clipped: that of a
    /// Gaussian with a standard deviation of its own is one over its variance, that of a softmax bounded.
    fn is_steep(&self) -> bool {
        false
    }
    /// Mini-batches in an epoch.
    fn batches(&self) -> usize;
    /// Where a chain begins.
    fn start(&self) -> Self::Vector;
    /// The parameters' stretches of the vector, in their order.
    fn slices(&self) -> Vec<Slice>;
    /// Mean loss of a mini-batch, which epoch and batch name; its gradient replaces `gradient`. The
    /// same names always give the same numbers.
    fn batch(
        &mut self,
        theta: &Self::Vector,
        epoch: usize,
        batch: usize,
        gradient: &mut Self::Vector,
    ) -> f64;
    /// Mean loss of all examples as they are, and its gradient.
    fn whole(&mut self, theta: &Self::Vector, gradient: &mut Self::Vector) -> f64;
    /// Mean loss of all examples as they are.
    fn whole_loss(&mut self, theta: &Self::Vector) -> f64;
    /// Running statistics of normalisation; none where there is no such layer.
    fn statistics(&self) -> Vec<f64> {
        Vec::new()
    }
    /// Sets the running statistics.
    fn set_statistics(&mut self, _statistics: &[f64]) {}
    /// Makes the running statistics those of the network at `theta` on the training data.
    fn refresh(&mut self, _theta: &Self::Vector) {}
}

/// `N loss` and the prior's `|theta|^2 / (2 s^2)`, apart: sums of both lose the small differences
/// that accepting a move hangs on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Potential {
    /// `N loss(theta)`.
    pub likelihood: f64,
    /// `|theta|^2 / (2 s^2)`.
    pub prior: f64,
}

impl Potential {
    /// At `theta`; the gradient of the sum replaces `gradient`.
    pub fn at<V: Vector>(target: &mut dyn Target<Vector = V>, theta: &V, gradient: &mut V) -> Self {
        let (n, precision) = (target.examples() as f64, target.prior_precision());
        let loss = target.whole(theta, gradient);
        gradient.combine(n, precision, theta);
        Self { likelihood: n * loss, prior: 0.5 * precision * theta.dot(theta) }
    }

    /// How much lower this is than `other`.
    pub fn below(self, other: Self) -> f64 {
        (other.likelihood - self.likelihood) + (other.prior - self.prior)
    }
}
