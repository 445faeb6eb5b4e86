//! Optimisers: rules that turn gradients into steps, on flat vectors.

mod adam;
mod momentum;

use dubio_nn::engine::Vector;
use serde::{Deserialize, Serialize};

use crate::memory::Memory;
use crate::rule::Gradient;
use adam::Adam;
use momentum::Momentum;

/// Which optimiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Stochastic gradient descent with momentum.
    Sgd,
    /// The same with Nesterov's look ahead.
    Nesterov,
    /// Adam, with the prior's gradient added to the loss's.
    Adam,
    /// Adam with decoupled weight decay.
    AdamW,
}

/// An optimiser with what it remembers.
pub(crate) enum Optimiser<V> {
    Momentum(Momentum<V>),
    Adam(Adam<V>),
}

impl<V: Vector> Optimiser<V> {
    /// For vectors like this one. `momentum` is Adam's `b1`.
    pub(crate) fn new(kind: Kind, momentum: f64, like: &V) -> Self {
        match kind {
            Kind::Sgd => Self::Momentum(Momentum::new(momentum, momentum::Look::Here, like)),
            Kind::Nesterov => Self::Momentum(Momentum::new(momentum, momentum::Look::Ahead, like)),
            Kind::Adam => Self::Adam(Adam::new(momentum, adam::Decay::InGradient, like)),
            Kind::AdamW => Self::Adam(Adam::new(momentum, adam::Decay::Apart, like)),
        }
    }

    /// One step along the gradient of `U / N`.
    pub(crate) fn step(&mut self, theta: &mut V, gradient: Gradient<'_, V>, rate: f64) {
        match self {
            Self::Momentum(momentum) => momentum.step(theta, gradient, rate),
            Self::Adam(adam) => adam.step(theta, gradient, rate),
        }
    }

    pub(crate) fn memory(&mut self) -> Memory<'_, V> {
        match self {
            Self::Momentum(momentum) => momentum.memory(),
            Self::Adam(adam) => adam.memory(),
        }
    }
}

#[cfg(test)]
mod tests {
    use dubio_nn::Double;
    use dubio_nn::engine::Engine;

    use super::*;
    use crate::prior::Gaussian;

    /// Ten steps on `loss = 0.5 (a x^2 + b y^2)` from (1, -2), with decay 0.1.
    fn run(kind: Kind, rate: f64) -> Vec<f64> {
        let engine = Double::default();
        let mut theta = engine.vector(&[1.0, -2.0]);
        let mut optimiser = Optimiser::new(kind, 0.9, &theta);
        let prior = Gaussian { precision: 1.0 };
        for _ in 0..10 {
            let now = theta.read(0..2);
            let mut gradient = engine.vector(&[3.0 * now[0], 0.5 * now[1]]);
            optimiser.step(&mut theta, Gradient::new(&mut gradient, &prior, 10), rate);
        }
        theta.read(0..2)
    }

    /// import torch
    /// for make in [lambda p: torch.optim.SGD(p, 0.1, 0.9, weight_decay=0.1),
    ///              lambda p: torch.optim.SGD(p, 0.1, 0.9, weight_decay=0.1, nesterov=True),
    ///              lambda p: torch.optim.Adam(p, 0.1, (0.9, 0.999), weight_decay=0.1),
    ///              lambda p: torch.optim.AdamW(p, 0.1, (0.9, 0.999), weight_decay=0.1)]:
    ///     t = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
    ///     o = make([t])
    ///     for _ in range(10):
    ///         o.zero_grad()
    ///         (0.5 * (3 * t[0] ** 2 + 0.5 * t[1] ** 2)).backward()
    ///         o.step()
    ///     print(t.tolist())
    #[test]
    fn ten_steps_are_those_of_pytorch() {
        let expected = [
            (Kind::Sgd, [0.573_565_666_188_354_1, 0.857_186_549_732_975_1]),
            (Kind::Nesterov, [0.105_155_166_696_498_21, 0.668_403_764_868_003]),
            (Kind::Adam, [0.076_249_153_828_161_53, -1.024_586_844_002_854_5]),
            (Kind::AdamW, [0.033_605_549_625_579_045, -0.882_898_182_513_175_1]),
        ];
        for (kind, expected) in expected {
            let theta = run(kind, 0.1);
            assert!(
                theta.iter().zip(expected).all(|(a, b): (&f64, f64)| (a - b).abs() < 1e-12),
                "{kind:?}: {theta:?}"
            );
        }
    }
}
