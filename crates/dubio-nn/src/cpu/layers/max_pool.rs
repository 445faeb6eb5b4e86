//! `Layer::MaxPool`: the largest number of each window.

use std::ops::Range;

use multiversion::multiversion;

use super::{Backward, Forward, Kernel, PIECE, each_piece};
use crate::real::Real;
use crate::shape::Shape;

/// The fields are those of `Layer::MaxPool`.
pub(super) struct MaxPool {
    pub size: usize,
    pub stride: usize,
    pub padding: usize,
}

impl MaxPool {
    fn out(&self, input: Shape) -> Shape {
        input.windows(self.size, self.stride, self.padding)
    }

    /// What a piece keeps: for each output, which place of its window it comes from, and room for two lines.
    fn saved_per_piece(&self, input: Shape) -> usize {
        PIECE * self.out(input).size() + 2 * input.width * input.channels
    }

    /// Which of a window's numbers lie inside an image of this length.
    fn inside(&self, window: usize, length: usize) -> Range<usize> {
        let start = window * self.stride;
        self.padding.saturating_sub(start)..self.size.min(length + self.padding - start)
    }

    /// The largest numbers of one image, and how far into its window each is. First the largest of
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
        let (best, place) = line.split_at_mut(width);
        for row in 0..out.height {
            for (nth, i) in self.inside(row, input.height).enumerate() {
                let x = &x[(row * self.stride + i - self.padding) * width..][..width];
                if nth == 0 {
                    best.copy_from_slice(x);
                    place.fill(T::of((i * input.width) as f64));
                } else {
                    take_larger(x, T::of((i * input.width) as f64), best, place);
                }
            }
            for column in 0..out.width {
                let to = (row * out.width + column) * channels;
                let (y, which) = (&mut y[to..][..channels], &mut which[to..][..channels]);
                for (nth, j) in self.inside(column, input.width).enumerate() {
                    let from = (column * self.stride + j - self.padding) * channels;
                    let (best, place) = (&best[from..][..channels], &place[from..][..channels]);
                    let step = T::of(j as f64);
                    for ((y, which), (&x, &n)) in
                        y.iter_mut().zip(which.iter_mut()).zip(best.iter().zip(place))
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

    /// Hands each gradient of one image to the number that was the largest.
    fn backward_one<T: Real>(&self, g: &[T], which: &[T], input: Shape, gradient: &mut [T]) {
        let (out, channels) = (self.out(input), input.channels);
        gradient.fill(T::zero());
        let windows = g.chunks_exact(channels).zip(which.chunks_exact(channels));
        for (window, (g, which)) in windows.enumerate() {
            let (row, column) = (window / out.width, window % out.width);
            // The first place of the window, were the padding part of the image.
            let first = row * self.stride * input.width + column * self.stride;
            let before = self.padding * (input.width + 1);
            for (channel, (g, which)) in g.iter().zip(which).enumerate() {
                let place = first + which.wide() as usize - before;
                let sum = &mut gradient[place * channels + channel];
                *sum = *sum + *g;
            }
        }
    }
}

/// Replaces numbers that are smaller than `x`, and their places; NaN always wins, so that it is seen.
#[multiversion(targets = "simd")]
fn take_larger<T: Real>(x: &[T], from: T, best: &mut [T], place: &mut [T]) {
    for ((best, place), &x) in best.iter_mut().zip(place).zip(x) {
        let wins = x > *best || x.is_nan();
        *best = if wins { x } else { *best };
        *place = if wins { from } else { *place };
    }
}

impl<T: Real> Kernel<T> for MaxPool {
    fn saved(&self, input: Shape, batch: usize) -> usize {
        batch.div_ceil(PIECE) * self.saved_per_piece(input)
    }
    fn forward(&self, pass: Forward<'_, T>) {
        let (shape, size, out) = (pass.shape, pass.shape.size(), self.out(pass.shape).size());
        let (per_piece, saved) = (PIECE * out, self.saved_per_piece(shape));
        each_piece(
            pass.input.len(),
            pass.output,
            per_piece,
            pass.saved,
            saved,
            |piece, y, saved| {
                let (which, line) = saved.split_at_mut(per_piece);
                let images = pass.input.chunks_exact(size).skip(piece * PIECE);
                let results = y.chunks_exact_mut(out).zip(which.chunks_exact_mut(out));
                for (x, (y, which)) in images.zip(results) {
                    self.forward_one(x, shape, line, y, which);
                }
            },
        );
    }
    fn backward(&self, pass: Backward<'_, T>) {
        let (shape, size, out) = (pass.shape, pass.shape.size(), self.out(pass.shape).size());
        let saved = self.saved_per_piece(shape);
        let (work, per_piece) = (pass.input.len(), PIECE * size);
        each_piece(work, pass.input_gradient, per_piece, &mut [], 0, |piece, gradients, _| {
            let g = pass.output_gradient[piece * PIECE * out..].chunks_exact(out);
            let which = pass.saved[piece * saved..].chunks_exact(out);
            for ((gradient, g), which) in gradients.chunks_exact_mut(size).zip(g).zip(which) {
                self.backward_one(g, which, shape, gradient);
            }
        });
    }
}
