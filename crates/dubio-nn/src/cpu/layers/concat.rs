//! `Layer::Concat`: the channels of several branches side by side.

use super::{Backward, Forward, Kernel};
use crate::real::Real;

pub(super) struct Concat {
    /// The channels of each input.
    pub channels: Vec<usize>,
}

impl Concat {
    /// For each input, its first channel among those that go out, and one past its last.
    fn stretches(&self) -> impl Iterator<Item = (usize, usize)> {
        self.channels.iter().scan(0, |end, channels| {
            let start = *end;
            *end += channels;
            Some((start, *end))
        })
    }
}

impl<T: Real> Kernel<T> for Concat {
    fn forward(&self, pass: Forward<'_, T>) {
        let width = self.channels.iter().sum();
        let inputs = std::iter::once(pass.input).chain(pass.others.iter().copied());
        for ((start, end), input) in self.stretches().zip(inputs) {
            let places = pass.output.chunks_exact_mut(width).zip(input.chunks_exact(end - start));
            places.for_each(|(output, input)| output[start..end].copy_from_slice(input));
        }
    }
    fn backward(&self, pass: Backward<'_, T>) {
        let width = self.channels.iter().sum();
        let others = pass.other_gradients.iter_mut().map(|gradient| &mut **gradient);
        let gradients = std::iter::once(pass.input_gradient).chain(others);
        for ((start, end), gradient) in self.stretches().zip(gradients) {
            let places = gradient.chunks_exact_mut(end - start);
            for (gradient, output) in places.zip(pass.output_gradient.chunks_exact(width)) {
                gradient.copy_from_slice(&output[start..end]);
            }
        }
    }
}
