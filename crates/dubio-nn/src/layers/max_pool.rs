//! `max-pool`: the largest number of each window.

use super::{Backward, Forward, Layer};
use crate::real::Real;
use crate::shape::Shape;

/// The largest of every `size x size` window, `stride` apart, with `padding` places of nothing
/// around. The first of equals gets the gradient, as in PyTorch.
pub struct MaxPool {
    /// Side of the window.
    pub size: usize,
    /// Steps between windows.
    pub stride: usize,
    /// Places around the picture.
    pub padding: usize,
}

impl MaxPool {
    fn side(&self, length: usize) -> usize {
        (length + 2 * self.padding - self.size) / self.stride + 1
    }

    /// Index, inside an example, of the largest number of the window of an output.
    fn winner<T: Real>(
        &self,
        x: &[T],
        input: Shape,
        row: usize,
        column: usize,
        channel: usize,
    ) -> usize {
        let mut best: Option<usize> = None;
        for i in 0..self.size {
            for j in 0..self.size {
                let (r, c) = (row * self.stride + i, column * self.stride + j);
                let inside = r >= self.padding
                    && c >= self.padding
                    && r < input.height + self.padding
                    && c < input.width + self.padding;
                if inside {
                    let place = (r - self.padding) * input.width + c - self.padding;
                    let at = place * input.channels + channel;
                    if best.is_none_or(|b| x[at] > x[b]) {
                        best = Some(at);
                    }
                }
            }
        }
        best.unwrap_or(0)
    }

    /// Calls `f(output index, input index of the winner)` for every output of an example.
    fn winners<T: Real>(&self, x: &[T], input: Shape, mut f: impl FnMut(usize, usize)) {
        let (height, width) = (self.side(input.height), self.side(input.width));
        for row in 0..height {
            for column in 0..width {
                for channel in 0..input.channels {
                    let to = (row * width + column) * input.channels + channel;
                    f(to, self.winner(x, input, row, column, channel));
                }
            }
        }
    }
}

impl<T: Real> Layer<T> for MaxPool {
    fn kind(&self) -> &'static str {
        "max-pool"
    }
    fn output(&self, input: Shape) -> Shape {
        Shape::picture(input.channels, self.side(input.height), self.side(input.width))
    }
    fn forward(&self, pass: Forward<'_, T>) {
        let (size, out) = (pass.shape.size(), pass.output.len() / pass.batch);
        for (x, y) in pass.input.chunks_exact(size).zip(pass.output.chunks_exact_mut(out)) {
            self.winners(x, pass.shape, |to, from| y[to] = x[from]);
        }
    }
    fn backward(&self, pass: Backward<'_, T>) {
        let (size, out) = (pass.shape.size(), pass.output_gradient.len() / pass.batch);
        pass.input_gradient.fill(T::zero());
        let examples = pass.input.chunks_exact(size).zip(pass.output_gradient.chunks_exact(out));
        for ((x, g), gradient) in examples.zip(pass.input_gradient.chunks_exact_mut(size)) {
            self.winners(x, pass.shape, |to, from| gradient[from] = gradient[from] + g[to]);
        }
    }
}
