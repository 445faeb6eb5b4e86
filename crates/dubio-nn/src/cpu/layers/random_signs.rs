//! `Layer::RandomSigns`: a sign for each channel.

use dubio_random::numbered::Numbered;

use super::{Backward, Forward, Kernel};
use crate::real::Real;
use crate::shape::Shape;

pub(super) struct RandomSigns;

/// `out = x sign` for every place of every example.
fn multiply<T: Real>(out: &mut [T], x: &[T], signs: &[T], shape: Shape) {
    let examples = out.chunks_exact_mut(shape.size()).zip(x.chunks_exact(shape.size()));
    for ((out, x), signs) in examples.zip(signs.chunks_exact(shape.channels)) {
        for ((out, x), sign) in out.iter_mut().zip(x).zip(signs.iter().cycle()) {
            *out = *x * *sign;
        }
    }
}

impl<T: Real> Kernel<T> for RandomSigns {
    fn saved(&self, input: Shape, batch: usize) -> usize {
        input.channels * batch
    }
    fn forward(&self, pass: Forward<'_, T>) {
        pass.saved.fill(T::one());
        if let Some(stream) = pass.noise {
            // A generator for each example: signs do not depend on how a batch is cut.
            let generators = Numbered::new(stream);
            for (example, signs) in pass.saved.chunks_exact_mut(pass.shape.channels).enumerate() {
                let mut generator = generators.nth(pass.mode.mask_of(example));
                for signs in signs.chunks_mut(64) {
                    let bits = generator.bits();
                    for (bit, sign) in signs.iter_mut().enumerate() {
                        *sign = if bits >> bit & 1 == 1 { -T::one() } else { T::one() };
                    }
                }
            }
        }
        multiply(pass.output, pass.input, pass.saved, pass.shape);
    }
    fn backward(&self, pass: Backward<'_, T>) {
        multiply(pass.input_gradient, pass.output_gradient, pass.saved, pass.shape);
    }
}
