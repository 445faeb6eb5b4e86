//! Adam and AdamW.

use dubio_nn::engine::Vector;

use crate::memory::Memory;
use crate::rule::Gradient;

/// What becomes of the prior's gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decay {
    /// It is part of the gradient: Kingma and Ba 2015.
    InGradient,
    /// It shrinks the parameters by itself: Loshchilov and Hutter 2019.
    Apart,
}

const SECOND: f64 = 0.999;
const FLOOR: f64 = 1e-8;

/// `m = b1 m + (1 - b1) g`, `v = b2 v + (1 - b2) g^2`,
/// `theta -= lr m' / (sqrt(v') + 1e-8)` with both averages corrected for their start at 0; `b2` is 0.999.
pub(crate) struct Adam<V> {
    first: f64,
    decay: Decay,
    /// The average of the gradient.
    mean: V,
    /// The average of its square.
    square: V,
    /// Room for the gradient with the prior's.
    room: V,
    /// Steps taken.
    count: u64,
}

impl<V: Vector> Adam<V> {
    pub(crate) fn new(first: f64, decay: Decay, like: &V) -> Self {
        let zeros = || like.zeros(like.len());
        Self { first, decay, mean: zeros(), square: zeros(), room: zeros(), count: 0 }
    }

    pub(crate) fn step(&mut self, theta: &mut V, gradient: Gradient<'_, V>, rate: f64) {
        self.room.copy_from(gradient.likelihood);
        if self.decay == Decay::InGradient {
            gradient.add_prior(1.0, theta, &mut self.room);
        }
        self.mean.combine(self.first, 1.0 - self.first, &self.room);
        self.square.scale(SECOND);
        self.square.add_product(1.0 - SECOND, &self.room, &self.room);
        self.count += 1;
        let free = |b: f64| 1.0 - b.powf(self.count as f64);
        // m' / (sqrt(v') + f) = sqrt(c) / b m / (sqrt(v) + f sqrt(c)), with c = 1 - b2^t, b = 1 - b1^t.
        let root = free(SECOND).sqrt();
        let scale = root / free(self.first);
        self.room.fill(0.0);
        if self.decay == Decay::Apart {
            gradient.add_prior(1.0, theta, &mut self.room);
        }
        self.room.add_over_root(scale, &self.mean, &self.square, FLOOR * root);
        theta.axpy(-rate, &self.room);
    }

    pub(crate) fn memory(&mut self) -> Memory<'_, V> {
        Memory::none()
            .vector("mean", &mut self.mean)
            .vector("square", &mut self.square)
            .count("count", &mut self.count)
    }
}
