//! Adam and AdamW.

use dubio_nn::engine::Vector;

use crate::rule::Memory;

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
/// `theta -= lr m' / (sqrt(v') + 1e-8)` with both averages freed of their start at 0; `b2` is 0.999.
pub(crate) struct Adam<V> {
    first: f64,
    decay: Decay,
    /// The averages of the gradient and of its square, and room for the gradient with the prior's.
    averages: Vec<V>,
    room: V,
    /// Steps taken.
    count: Vec<f64>,
}

impl<V: Vector> Adam<V> {
    pub(crate) fn new(first: f64, decay: Decay, like: &V) -> Self {
        let mut zeros = like.clone();
        zeros.fill(0.0);
        Self {
            first,
            decay,
            averages: vec![zeros.clone(), zeros.clone()],
            room: zeros,
            count: vec![0.0],
        }
    }

    pub(crate) fn step(&mut self, theta: &mut V, gradient: &V, decay: f64, rate: f64) {
        self.room.copy_from(gradient);
        match self.decay {
            Decay::InGradient => self.room.axpy(decay, theta),
            Decay::Apart => theta.scale(1.0 - rate * decay),
        }
        let [mean, square] = &mut self.averages[..] else { unreachable!("two averages") };
        mean.combine(self.first, 1.0 - self.first, &self.room);
        square.scale(SECOND);
        square.add_product(1.0 - SECOND, &self.room, &self.room);
        self.count[0] += 1.0;
        let free = |b: f64| 1.0 - b.powf(self.count[0]);
        // m' / (sqrt(v') + f) = sqrt(c) / b m / (sqrt(v) + f sqrt(c)), with c = 1 - b2^t, b = 1 - b1^t.
        let root = free(SECOND).sqrt();
        theta.add_over_root(-rate * root / free(self.first), mean, square, FLOOR * root);
    }

    pub(crate) fn memory(&mut self) -> Memory<'_, V> {
        Memory::none().vectors("averages", &mut self.averages).numbers("count", &mut self.count)
    }
}
