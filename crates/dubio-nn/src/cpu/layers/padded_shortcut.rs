//! `Layer::PaddedShortcut`: the shortcut that has no parameters.

use super::{Backward, Forward, Kernel};
use crate::real::Real;
use crate::shape::Shape;

pub(super) struct PaddedShortcut {
    pub channels: usize,
}

impl PaddedShortcut {
    /// Calls `f(place in, first padded channel of the place out)` for every place that is kept.
    fn places(&self, input: Shape, mut f: impl FnMut(usize, usize)) {
        let (height, width) = (input.height.div_ceil(2), input.width.div_ceil(2));
        let before = (self.channels - input.channels) / 2;
        for row in 0..height {
            for column in 0..width {
                let from = (2 * row * input.width + 2 * column) * input.channels;
                f(from, (row * width + column) * self.channels + before);
            }
        }
    }
}

impl<T: Real> Kernel<T> for PaddedShortcut {
    fn forward(&self, pass: Forward<'_, T>) {
        pass.output.fill(T::zero());
        let (size_in, size_out) = (pass.shape.size(), pass.output.len() / pass.batch);
        let channels = pass.shape.channels;
        for (x, y) in pass.input.chunks_exact(size_in).zip(pass.output.chunks_exact_mut(size_out)) {
            self.places(pass.shape, |from, to| {
                y[to..to + channels].copy_from_slice(&x[from..from + channels]);
            });
        }
    }
    fn backward(&self, pass: Backward<'_, T>) {
        pass.input_gradient.fill(T::zero());
        let (size_in, size_out) = (pass.shape.size(), pass.output_gradient.len() / pass.batch);
        let channels = pass.shape.channels;
        let pairs = pass.input_gradient.chunks_exact_mut(size_in);
        for (x, y) in pairs.zip(pass.output_gradient.chunks_exact(size_out)) {
            self.places(pass.shape, |from, to| {
                x[from..from + channels].copy_from_slice(&y[to..to + channels]);
            });
        }
    }
}
