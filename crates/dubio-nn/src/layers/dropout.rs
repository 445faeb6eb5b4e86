//! `dropout`: numbers left out.

use rand::Rng;

use super::{Backward, Forward, Layer};
use crate::real::Real;
use crate::shape::Shape;

/// Keeps a number with probability `1 - rate` and divides it by that, so that its mean stays; the
/// same with or without freezing. Without noise it does nothing.
pub struct Dropout {
    /// Share of numbers that are left out.
    pub rate: f64,
}

impl<T: Real> Layer<T> for Dropout {
    fn kind(&self) -> &'static str {
        "dropout"
    }
    fn output(&self, input: Shape) -> Shape {
        input
    }
    fn is_noisy(&self) -> bool {
        true
    }
    fn saved(&self, input: Shape, batch: usize) -> usize {
        input.size() * batch
    }
    fn forward(&self, pass: Forward<'_, T>) {
        let Some(stream) = pass.noise else {
            pass.saved.fill(T::one());
            pass.output.copy_from_slice(pass.input);
            return;
        };
        let size = pass.shape.size();
        let kept = T::of(1.0 / (1.0 - self.rate));
        let threshold = (self.rate * 2_f64.powi(32)) as u64;
        // A stream for each example: masks do not depend on how a batch is cut.
        for (example, mask) in pass.saved.chunks_exact_mut(size).enumerate() {
            let mut generator = stream.nth(example).generator();
            for m in mask {
                let out = u64::from(generator.next_u32()) < threshold;
                *m = if out { T::zero() } else { kept };
            }
        }
        for ((y, x), m) in pass.output.iter_mut().zip(pass.input).zip(pass.saved) {
            *y = *x * *m;
        }
    }
    fn backward(&self, pass: Backward<'_, T>) {
        let gradients = pass.input_gradient.iter_mut().zip(pass.output_gradient);
        for ((gradient, g), m) in gradients.zip(pass.saved) {
            *gradient = *g * *m;
        }
    }
}
