//! `Layer::AveragePool`: the mean of each window.

use super::{Backward, Forward, Kernel};
use crate::real::Real;
use crate::shape::Shape;

/// Also serves the mean of the whole image, which is one window.
pub(super) struct AveragePool {
    pub rows: usize,
    pub columns: usize,
}

impl AveragePool {
    /// Calls `f(place in, place out)` for every place of every window; gives how many places a window has.
    fn places(&self, input: Shape, mut f: impl FnMut(usize, usize)) -> usize {
        let Self { rows, columns } = *self;
        let (height, width) = (input.height / rows, input.width / columns);
        for row in 0..height * rows {
            for column in 0..width * columns {
                f(row * input.width + column, row / rows * width + column / columns);
            }
        }
        rows * columns
    }
}

impl<T: Real> Kernel<T> for AveragePool {
    fn forward(&self, pass: Forward<'_, T>) {
        let (channels, size) = (pass.shape.channels, pass.shape.size());
        let out = pass.output.len() / pass.batch;
        pass.output.fill(T::zero());
        for (x, y) in pass.input.chunks_exact(size).zip(pass.output.chunks_exact_mut(out)) {
            let shared = self.places(pass.shape, |from, to| {
                let sums = y[to * channels..(to + 1) * channels].iter_mut();
                for (sum, v) in sums.zip(&x[from * channels..]) {
                    *sum = *sum + *v;
                }
            });
            let fraction = T::of(1.0 / shared as f64);
            y.iter_mut().for_each(|v| *v = *v * fraction);
        }
    }
    fn backward(&self, pass: Backward<'_, T>) {
        let (channels, size) = (pass.shape.channels, pass.shape.size());
        let out = pass.output_gradient.len() / pass.batch;
        let fraction = T::of(1.0 / (self.rows * self.columns) as f64);
        pass.input_gradient.fill(T::zero());
        let examples = pass.input_gradient.chunks_exact_mut(size);
        for (gradient, g) in examples.zip(pass.output_gradient.chunks_exact(out)) {
            self.places(pass.shape, |from, to| {
                let to = &g[to * channels..(to + 1) * channels];
                for (gradient, g) in gradient[from * channels..].iter_mut().zip(to) {
                    *gradient = *g * fraction;
                }
            });
        }
    }
}
