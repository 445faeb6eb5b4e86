//! `max-pool`: the largest number of each window.

use std::ops::Range;

use multiversion::multiversion;

use super::{Backward, Forward, Layer, PIECE, each_piece};
use crate::real::Real;
use crate::shape::Shape;

/// The largest of every `size x size` window, `stride` apart, with `padding` places of nothing
/// around. The first of equals gets the gradient, as in PyTorch.
pub struct MaxPool {
    /// Side of the window.
    pub size: usize,
    /// Steps between windows.
    pub stride: usize,
    /// Places around the picture; fewer than the window has.
    pub padding: usize,
}

impl MaxPool {
    fn side(&self, length: usize) -> usize {
        (length + 2 * self.padding - self.size) / self.stride + 1
    }

    fn out(&self, input: Shape) -> Shape {
        Shape::picture(input.channels, self.side(input.height), self.side(input.width))
    }

    /// Which of its numbers a window has inside a picture of this length.
    fn inside(&self, window: usize, length: usize) -> Range<usize> {
        let start = window * self.stride;
        self.padding.saturating_sub(start)..self.size.min(length + self.padding - start)
    }

    /// The largest numbers of one picture, and which of its window each is. First the largest of
    /// each column of a window, whole lines at a time, then of these; `line` has room for two lines.
    fn forward_one<T: Real>(
        &self,
        x: &[T],
        input: Shape,
        line: &mut [T],
        y: &mut [T],
        which: &mut [T],
    ) {
        let (out, channels) = (self.out(input), input.channels);
        let width = input.width * channels;
        let (best, number) = line.split_at_mut(width);
        for row in 0..out.height {
            for (nth, i) in self.inside(row, input.height).enumerate() {
                let x = &x[(row * self.stride + i - self.padding) * width..][..width];
                if nth == 0 {
                    best.copy_from_slice(x);
                    number.fill(T::of((i * self.size) as f64));
                } else {
                    take_larger(x, T::of((i * self.size) as f64), best, number);
                }
            }
            for column in 0..out.width {
                let to = (row * out.width + column) * channels;
                let (y, which) = (&mut y[to..][..channels], &mut which[to..][..channels]);
                for (nth, j) in self.inside(column, input.width).enumerate() {
                    let from = (column * self.stride + j - self.padding) * channels;
                    let (best, number) = (&best[from..][..channels], &number[from..][..channels]);
                    let step = T::of(j as f64);
                    for ((y, which), (&x, &n)) in
                        y.iter_mut().zip(which.iter_mut()).zip(best.iter().zip(number))
                    {
                        let n = n + step;
                        let wins = nth == 0 || x > *y || x.is_nan() || (x == *y && n < *which);
                        *y = if wins { x } else { *y };
                        *which = if wins { n } else { *which };
                    }
                }
            }
        }
    }
}

/// Replaces what is smaller than `x`, and its number; what is no number stays to be seen.
#[multiversion(targets = "simd")]
fn take_larger<T: Real>(x: &[T], from: T, best: &mut [T], number: &mut [T]) {
    for ((best, number), &x) in best.iter_mut().zip(number).zip(x) {
        let wins = x > *best || x.is_nan();
        *best = if wins { x } else { *best };
        *number = if wins { from } else { *number };
    }
}

impl<T: Real> Layer<T> for MaxPool {
    fn kind(&self) -> &'static str {
        "max-pool"
    }
    fn output(&self, input: Shape) -> Shape {
        self.out(input)
    }
    /// Which number of its window an output is.
    fn saved(&self, input: Shape, batch: usize) -> usize {
        batch * self.out(input).size()
    }
    fn forward(&self, pass: Forward<'_, T>) {
        let (shape, size, out) = (pass.shape, pass.shape.size(), self.out(pass.shape).size());
        let piece = PIECE * out;
        each_piece(pass.input.len(), pass.output, piece, pass.saved, piece, |piece, y, which| {
            let mut line = vec![T::zero(); 2 * shape.width * shape.channels];
            let pictures = pass.input.chunks_exact(size).skip(piece * PIECE);
            let results = y.chunks_exact_mut(out).zip(which.chunks_exact_mut(out));
            for (x, (y, which)) in pictures.zip(results) {
                self.forward_one(x, shape, &mut line, y, which);
            }
        });
    }
    fn backward(&self, pass: Backward<'_, T>) {
        let (shape, out) = (pass.shape, self.out(pass.shape));
        let (size, channels) = (shape.size(), shape.channels);
        let (width, padding) = (shape.width as isize, self.padding as isize);
        // How far from the first place of its window each number is.
        let places: Vec<isize> = (0..self.size * self.size)
            .map(|n| (n / self.size) as isize * width + (n % self.size) as isize)
            .collect();
        let work = pass.input.len();
        each_piece(work, pass.input_gradient, PIECE * size, &mut [], 0, |piece, all, _| {
            let each = out.size();
            let results =
                pass.output_gradient.chunks_exact(each).zip(pass.saved.chunks_exact(each));
            for (gradient, (g, which)) in
                all.chunks_exact_mut(size).zip(results.skip(piece * PIECE))
            {
                gradient.fill(T::zero());
                let windows = g.chunks_exact(channels).zip(which.chunks_exact(channels));
                for (place, (g, which)) in windows.enumerate() {
                    let (row, column) =
                        (place / out.width * self.stride, place % out.width * self.stride);
                    let first = (row as isize - padding) * width + column as isize - padding;
                    for (channel, (g, which)) in g.iter().zip(which).enumerate() {
                        let place = first + places[which.wide() as usize];
                        let sum = &mut gradient[place as usize * channels + channel];
                        *sum = *sum + *g;
                    }
                }
            }
        });
    }
}
