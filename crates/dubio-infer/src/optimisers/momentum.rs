//! Stochastic gradient descent with momentum.

use dubio_nn::engine::Vector;

use crate::rule::Memory;

/// Where the step is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Here,
    /// Nesterov 1983, as Sutskever et al. 2013 write it.
    Ahead,
}

/// `v = m v + g`, `theta -= lr v`, with `g = gradient + decay theta`; looking ahead
/// `theta -= lr (g + m v)`. The first `v` is `g`. As PyTorch defines it: the learning rate is outside
/// the velocity.
pub(crate) struct Momentum<V> {
    momentum: f64,
    look: Look,
    /// One vector.
    velocity: Vec<V>,
}

impl<V: Vector> Momentum<V> {
    pub(crate) fn new(momentum: f64, look: Look, like: &V) -> Self {
        let mut velocity = like.clone();
        velocity.fill(0.0);
        Self { momentum, look, velocity: vec![velocity] }
    }

    pub(crate) fn step(&mut self, theta: &mut V, gradient: &V, decay: f64, rate: f64) {
        let velocity = &mut self.velocity[0];
        velocity.combine(self.momentum, 1.0, gradient);
        if decay != 0.0 {
            velocity.axpy(decay, theta);
        }
        match self.look {
            Look::Here => theta.axpy(-rate, velocity),
            Look::Ahead => {
                theta.combine(1.0 - rate * decay, -rate, gradient);
                theta.axpy(-rate * self.momentum, velocity);
            }
        }
    }

    pub(crate) fn memory(&mut self) -> Memory<'_, V> {
        Memory::none().vectors("velocity", &mut self.velocity)
    }
}
