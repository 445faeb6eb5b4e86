//! `Layer::Dropout`: numbers left out.

use dubio_random::numbered::Numbered;

use super::{Backward, Forward, Kernel};
use crate::real::Real;
use crate::shape::Shape;

pub(super) struct Dropout {
    pub rate: f64,
}

impl<T: Real> Kernel<T> for Dropout {
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
        // A generator for each mask: masks do not depend on how a batch is cut.
        let generators = Numbered::new(stream);
        let mask_of = |bits: u64| if (bits & 0xffff_ffff) < threshold { T::zero() } else { kept };
        for (example, mask) in pass.saved.chunks_exact_mut(size).enumerate() {
            let mut generator = generators.nth(pass.mode.mask_of(example));
            for pair in mask.chunks_mut(2) {
                let bits = generator.bits();
                pair.iter_mut().zip([bits, bits >> 32]).for_each(|(m, bits)| *m = mask_of(bits));
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
