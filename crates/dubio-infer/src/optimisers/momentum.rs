//! Stochastic gradient descent with momentum.

use dubio_nn::engine::{Descent, Vector};

use crate::memory::Memory;
use crate::rule::Gradient;

/// Where the step is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Here,
    /// Nesterov 1983, as Sutskever et al. 2013 write it.
    Ahead,
}

/// `v = m v + g`, `theta -= lr v`, with `g` the gradient of `U / N`; looking ahead
/// `theta -= lr (g + m v)`. The first `v` is `g`. As PyTorch defines it: the learning rate is outside
/// the velocity.
pub(crate) struct Momentum<V> {
    momentum: f64,
    look: Look,
    velocity: V,
}

impl<V: Vector> Momentum<V> {
    pub(crate) fn new(momentum: f64, look: Look, like: &V) -> Self {
        Self { momentum, look, velocity: like.zeros(like.len()) }
    }

    pub(crate) fn step(&mut self, theta: &mut V, mut gradient: Gradient<'_, V>, rate: f64) {
        if let (Look::Here, Some((gradient, decay))) = (self.look, gradient.decay()) {
            let by = Descent { decay, momentum: self.momentum, rate };
            return theta.descend(&mut self.velocity, gradient, by);
        }
        let gradient = gradient.total(theta);
        self.velocity.combine(self.momentum, 1.0, gradient);
        match self.look {
            Look::Here => theta.axpy(-rate, &self.velocity),
            Look::Ahead => {
                gradient.axpy(self.momentum, &self.velocity);
                theta.axpy(-rate, gradient);
            }
        }
    }

    pub(crate) fn memory(&mut self) -> Memory<'_, V> {
        Memory::none().vector("velocity", &mut self.velocity)
    }
}
