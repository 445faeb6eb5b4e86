//! `residual`: the sum of two branches, and the shortcut that has no parameters.

use super::{Backward, Forward, Layer};
use crate::real::Real;
use crate::shape::Shape;

/// Adds a second input of the same shape.
pub struct Residual;

impl<T: Real> Layer<T> for Residual {
    fn kind(&self) -> &'static str {
        "residual"
    }
    fn output(&self, input: Shape) -> Shape {
        input
    }
    fn adds(&self) -> bool {
        true
    }
    fn forward(&self, pass: Forward<'_, T>) {
        for ((sum, a), b) in pass.output.iter_mut().zip(pass.input).zip(pass.other) {
            *sum = *a + *b;
        }
    }
    fn backward(&self, pass: Backward<'_, T>) {
        pass.input_gradient.copy_from_slice(pass.output_gradient);
    }
}

/// Every other row and column, with as many channels of zeros put before and behind as it takes:
/// He et al. 2016, option A of their CIFAR networks.
pub struct PaddedShortcut {
    /// Channels that go out.
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

impl<T: Real> Layer<T> for PaddedShortcut {
    fn kind(&self) -> &'static str {
        "padded-shortcut"
    }
    fn output(&self, input: Shape) -> Shape {
        Shape::picture(self.channels, input.height.div_ceil(2), input.width.div_ceil(2))
    }
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
