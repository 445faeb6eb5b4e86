//! `Layer::GaussianDropout`: numbers multiplied by normal noise around 1.

use dubio_random::numbered::Numbered;

use super::{Backward, Forward, Kernel};
use crate::real::Real;
use crate::shape::Shape;

pub(super) struct GaussianDropout {
    pub rate: f64,
}

impl<T: Real> Kernel<T> for GaussianDropout {
    fn saved(&self, input: Shape, batch: usize) -> usize {
        input.size() * batch
    }
    fn forward(&self, pass: Forward<'_, T>) {
        pass.saved.fill(T::one());
        let Some(stream) = pass.noise else {
            pass.output.copy_from_slice(pass.input);
            return;
        };
        let std = (self.rate / (1.0 - self.rate)).sqrt();
        // A generator for each mask: factors do not depend on how a batch is cut.
        let generators = Numbered::new(stream);
        for (example, factors) in pass.saved.chunks_exact_mut(pass.shape.size()).enumerate() {
            T::add_normals(factors, std, &mut generators.nth(pass.mode.mask_of(example)));
        }
        for ((y, x), factor) in pass.output.iter_mut().zip(pass.input).zip(pass.saved) {
            *y = *x * *factor;
        }
    }
    fn backward(&self, pass: Backward<'_, T>) {
        let gradients = pass.input_gradient.iter_mut().zip(pass.output_gradient);
        for ((gradient, g), factor) in gradients.zip(pass.saved) {
            *gradient = *g * *factor;
        }
    }
}
