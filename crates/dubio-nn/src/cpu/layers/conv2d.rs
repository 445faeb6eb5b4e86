//! `Layer::Conv2d`: convolution by products of matrices, an image at a time.
//!
//! The windows of one image are laid out as rows of a matrix (im2col), which is small enough to
//! stay in the cache while it is multiplied by the kernels. Images of one channel go another way where they can, in
//! `grey`.

mod grey;

use grey::Grey;
use rayon::prelude::*;

use super::{Backward, Forward, Kernel, PIECE, WORTH_SHARING, each_piece};
use crate::cpu::matrix::{Matrix, Store, multiply};
use crate::layer::Bias;
use crate::real::Real;
use crate::shape::Shape;

/// The fields are those of `Layer::Conv2d`.
pub(super) struct Conv2d {
    pub channels: usize,
    pub kernel: usize,
    pub stride: usize,
    pub padding: usize,
    pub bias: Bias,
}

impl Conv2d {
    fn out(&self, input: Shape) -> Shape {
        let Self { channels, kernel, stride, padding, .. } = *self;
        Shape { channels, ..input.windows(kernel, stride, padding) }
    }

    /// Numbers in a window.
    fn window(&self, input: Shape) -> usize {
        self.kernel * self.kernel * input.channels
    }

    /// Whether the windows of an image are the image itself.
    fn is_plain(&self) -> bool {
        self.kernel == 1 && self.stride == 1 && self.padding == 0
    }

    /// Calls `f(place in windows, place in image, count)` for every run of numbers that a row of
    /// a window has in common with the image; what is in no run is padding.
    #[inline(always)]
    fn runs(&self, input: Shape, mut f: impl FnMut(usize, usize, usize)) {
        let (out, channels) = (self.out(input), input.channels);
        let (window, line) = (self.window(input), self.kernel * channels);
        for row in 0..out.height {
            for column in 0..out.width {
                let start = (row * out.width + column) * window;
                let left = column * self.stride;
                // Columns of the window that lie inside the image.
                let first = self.padding.saturating_sub(left);
                let last = self.kernel.min((input.width + self.padding).saturating_sub(left));
                if first >= last {
                    continue;
                }
                for k in 0..self.kernel {
                    let r = row * self.stride + k;
                    if r < self.padding || r >= input.height + self.padding {
                        continue;
                    }
                    let place = (r - self.padding) * input.width + left + first - self.padding;
                    f(
                        start + k * line + first * channels,
                        place * channels,
                        (last - first) * channels,
                    );
                }
            }
        }
    }

    /// Whether a window that starts at this place of a padded line reaches into the padding.
    fn reaches_out(&self, start: usize, length: usize) -> bool {
        start < self.padding || start + self.kernel > length + self.padding
    }

    /// Zeroes the windows that reach into the padding; the others are overwritten whole.
    fn clear_edges<T: Real>(&self, input: Shape, windows: &mut [T]) {
        let (out, window) = (self.out(input), self.window(input));
        for row in 0..out.height {
            let edge = self.reaches_out(row * self.stride, input.height);
            for column in 0..out.width {
                if edge || self.reaches_out(column * self.stride, input.width) {
                    let start = (row * out.width + column) * window;
                    windows[start..start + window].fill(T::zero());
                }
            }
        }
    }

    fn windows_of<T: Real>(&self, x: &[T], input: Shape, windows: &mut [T]) {
        self.clear_edges(input, windows);
        self.runs(input, |to, from, count| {
            windows[to..to + count].copy_from_slice(&x[from..from + count]);
        });
    }

    fn add_windows<T: Real>(&self, windows: &[T], input: Shape, x: &mut [T]) {
        x.fill(T::zero());
        self.runs(input, |from, to, count| {
            for (sum, w) in x[to..to + count].iter_mut().zip(&windows[from..from + count]) {
                *sum = *sum + *w;
            }
        });
    }

    fn work(&self, input: Shape, batch: usize) -> usize {
        2 * batch * self.out(input).size() * self.window(input)
    }

    /// Gradients of one piece: those of its images, and its part of the kernels'.
    fn piece_backward<T: Real>(
        &self,
        pass: &Shared<'_, T>,
        piece: usize,
        scratch: &mut [T],
        mut images: Option<&mut [T]>,
    ) {
        let (size, out, window) =
            (pass.shape.size(), self.out(pass.shape), self.window(pass.shape));
        let (room, sums) = scratch.split_at_mut(scratch.len() - (window + 1) * self.channels);
        let (kernels, biases) = sums.split_at_mut(window * self.channels);
        kernels.fill(T::zero());
        biases.fill(T::zero());
        let first = piece * PIECE;
        if let (Some(grey), None) = (Grey::new(self, pass.shape), &images) {
            let biases = if self.bias == Bias::Yes { biases } else { &mut [] };
            let images =
                pass.input.chunks_exact(size).zip(pass.output_gradient.chunks_exact(out.size()));
            for (x, g) in images.skip(first).take(PIECE) {
                grey.add_gradient(x, g, room, kernels, biases);
            }
            return;
        }
        let (windows, back) = room.split_at_mut(out.places() * window);
        let back = &mut back[..out.places() * window];
        for (index, example) in (first..pass.batch.min(first + PIECE)).enumerate() {
            let x = &pass.input[example * size..(example + 1) * size];
            let g = &pass.output_gradient[example * out.size()..(example + 1) * out.size()];
            let g_matrix = Matrix::new(g, out.places(), self.channels);
            let x = if self.is_plain() {
                x
            } else {
                self.windows_of(x, pass.shape, windows);
                &*windows
            };
            let x = Matrix::new(x, out.places(), window).transposed();
            multiply(x, g_matrix, kernels, Store::Add);
            if self.bias == Bias::Yes {
                for place in g.chunks_exact(self.channels) {
                    for (sum, g) in biases.iter_mut().zip(place) {
                        *sum = *sum + *g;
                    }
                }
            }
            if let Some(images) = &mut images {
                let to = &mut images[index * size..(index + 1) * size];
                let kernels = Matrix::new(pass.theta, window, self.channels).transposed();
                if self.is_plain() {
                    multiply(g_matrix, kernels, to, Store::Replace);
                } else {
                    multiply(g_matrix, kernels, back, Store::Replace);
                    self.add_windows(back, pass.shape, to);
                }
            }
        }
    }
}

/// What all pieces read on the way back.
struct Shared<'a, T> {
    theta: &'a [T],
    input: &'a [T],
    output_gradient: &'a [T],
    batch: usize,
    shape: Shape,
}

impl<T: Real> Kernel<T> for Conv2d {
    fn scratch(&self, input: Shape) -> usize {
        let windows = self.out(input).places() * self.window(input);
        let grey = Grey::new(self, input).map_or(0, Grey::scratch);
        grey.max(2 * windows) + (self.window(input) + 1) * self.channels
    }

    fn forward(&self, pass: Forward<'_, T>) {
        let (size, out, window) =
            (pass.shape.size(), self.out(pass.shape), self.window(pass.shape));
        let (kernels, bias) = pass.theta.split_at(window * self.channels);
        let grey = Grey::new(self, pass.shape);
        let work = self.work(pass.shape, pass.batch);
        let scratch = Kernel::<T>::scratch(self, pass.shape);
        each_piece(
            work,
            pass.output,
            PIECE * out.size(),
            pass.scratch,
            scratch,
            |piece, y, room| {
                for (index, y) in y.chunks_exact_mut(out.size()).enumerate() {
                    let example = piece * PIECE + index;
                    let x = &pass.input[example * size..(example + 1) * size];
                    if let Some(grey) = grey {
                        grey.forward(x, kernels, bias, room, y);
                        continue;
                    }
                    let x = if self.is_plain() {
                        x
                    } else {
                        self.windows_of(x, pass.shape, room);
                        &*room
                    };
                    let into = match self.bias {
                        Bias::No => Store::Replace,
                        Bias::Yes => {
                            y.chunks_exact_mut(self.channels).for_each(|p| p.copy_from_slice(bias));
                            Store::Add
                        }
                    };
                    let kernels = Matrix::new(kernels, window, self.channels);
                    multiply(Matrix::new(x, out.places(), window), kernels, y, into);
                }
            },
        );
    }

    fn backward(&self, pass: Backward<'_, T>) {
        let shared = Shared {
            theta: pass.theta,
            input: pass.input,
            output_gradient: pass.output_gradient,
            batch: pass.batch,
            shape: pass.shape,
        };
        let scratch = Kernel::<T>::scratch(self, pass.shape);
        let used = pass.batch.div_ceil(PIECE) * scratch;
        let size = PIECE * pass.shape.size();
        let apart = self.work(pass.shape, pass.batch) >= WORTH_SHARING;
        let pieces = &mut pass.scratch[..used];
        match (pass.input_gradient.is_empty(), apart) {
            (true, false) => pieces
                .chunks_mut(scratch)
                .enumerate()
                .for_each(|(i, room)| self.piece_backward(&shared, i, room, None)),
            (true, true) => pieces
                .par_chunks_mut(scratch)
                .enumerate()
                .for_each(|(i, room)| self.piece_backward(&shared, i, room, None)),
            (false, false) => pieces
                .chunks_mut(scratch)
                .zip(pass.input_gradient.chunks_mut(size))
                .enumerate()
                .for_each(|(i, (room, x))| self.piece_backward(&shared, i, room, Some(x))),
            (false, true) => pieces
                .par_chunks_mut(scratch)
                .zip(pass.input_gradient.par_chunks_mut(size))
                .enumerate()
                .for_each(|(i, (room, x))| self.piece_backward(&shared, i, room, Some(x))),
        }
        for room in pass.scratch[..used].chunks_exact(scratch) {
            let sums = &room[scratch - (self.window(pass.shape) + 1) * self.channels..];
            for (gradient, sum) in pass.gradient.iter_mut().zip(sums) {
                *gradient = *gradient + *sum;
            }
        }
    }
}
