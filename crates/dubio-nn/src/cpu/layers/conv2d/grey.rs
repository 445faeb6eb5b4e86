//! Convolution of images with one channel, without laying out windows.
//!
//! A window of such an image has few numbers, and copying them together takes longer than
//! multiplying them. Here an image lies in one line with its padding, and a number of the kernel
//! multiplies all of it at once, shifted: `y[i] = sum_k kernel[k] x[i + shift[k]]`. Lines of the
//! result are as long as those of the padded image; what stands beyond the image's width is
//! never read.

use std::array;

use multiversion::multiversion;

use super::Conv2d;
use crate::real::Real;
use crate::shape::Shape;

/// Numbers that are summed side by side: a few vectors of any processor.
const BLOCK: usize = 32;

/// Sizes of one convolution.
#[derive(Clone, Copy)]
pub(super) struct Grey<'a> {
    conv: &'a Conv2d,
    input: Shape,
    out: Shape,
}

impl<'a> Grey<'a> {
    /// `None` where it does not apply.
    pub(super) fn new(conv: &'a Conv2d, input: Shape) -> Option<Self> {
        let fits = input.channels == 1 && conv.stride == 1 && conv.kernel > 1;
        fits.then(|| Self { conv, input, out: conv.out(input) })
    }

    /// Length of a padded line.
    fn line(self) -> usize {
        self.input.width + 2 * self.conv.padding
    }

    /// Numbers of a result that are worked out, in whole blocks.
    fn plane(self) -> usize {
        (self.out.height * self.line()).next_multiple_of(BLOCK)
    }

    /// Numbers of a padded image, with room for the last block of the last shift.
    fn image(self) -> usize {
        self.plane() + (self.conv.kernel - 1) * (self.line() + 1)
    }

    /// Room for one image and its result.
    pub(super) fn scratch(self) -> usize {
        self.image() + self.conv.channels * self.plane()
    }

    fn shifts(self) -> impl Iterator<Item = usize> + Clone {
        let (kernel, line) = (self.conv.kernel, self.line());
        (0..kernel * kernel).map(move |k| k / kernel * line + k % kernel)
    }

    fn pad<T: Real>(self, x: &[T], padded: &mut [T]) {
        padded.fill(T::zero());
        let (line, padding) = (self.line(), self.conv.padding);
        for (row, x) in x.chunks_exact(self.input.width).enumerate() {
            padded[(row + padding) * line + padding..][..x.len()].copy_from_slice(x);
        }
    }

    /// The outputs of one image.
    pub(super) fn forward<T: Real>(
        self,
        x: &[T],
        kernels: &[T],
        bias: &[T],
        room: &mut [T],
        y: &mut [T],
    ) {
        let (padded, rest) = room.split_at_mut(self.image());
        self.pad(x, padded);
        let channels = self.conv.channels;
        let planes = &mut rest[..channels * self.plane()];
        for (channel, plane) in planes.chunks_exact_mut(self.plane()).enumerate() {
            let kernel = kernels[channel..].iter().step_by(channels).copied();
            let start = bias.get(channel).copied().unwrap_or(T::zero());
            convolve(padded, self.shifts().zip(kernel), start, plane);
        }
        for (row, y) in y.chunks_exact_mut(self.out.width * channels).enumerate() {
            for (channel, plane) in planes.chunks_exact(self.plane()).enumerate() {
                let values = &plane[row * self.line()..][..self.out.width];
                for (y, value) in y[channel..].iter_mut().step_by(channels).zip(values) {
                    *y = *value;
                }
            }
        }
    }

    /// Adds one image's part of the gradient of the kernels and, unless there are none, the biases.
    pub(super) fn add_gradient<T: Real>(
        self,
        x: &[T],
        g: &[T],
        room: &mut [T],
        kernels: &mut [T],
        biases: &mut [T],
    ) {
        let (padded, rest) = room.split_at_mut(self.image());
        self.pad(x, padded);
        let channels = self.conv.channels;
        let plane = &mut rest[..self.plane()];
        plane.fill(T::zero());
        for channel in 0..channels {
            for (row, g) in g.chunks_exact(self.out.width * channels).enumerate() {
                let values = &mut plane[row * self.line()..][..self.out.width];
                for (value, g) in values.iter_mut().zip(g[channel..].iter().step_by(channels)) {
                    *value = *g;
                }
            }
            let into = kernels[channel..].iter_mut().step_by(channels);
            for (shift, sum) in self.shifts().zip(into) {
                *sum = *sum + product(plane, &padded[shift..]);
            }
            if let Some(sum) = biases.get_mut(channel) {
                *sum = *sum + plane.iter().copied().sum();
            }
        }
    }
}

/// `y[i] = start + sum_k kernel[k] x[i + shift[k]]`, in whole blocks.
#[multiversion(targets = "simd")]
fn convolve<T: Real>(
    x: &[T],
    taps: impl Iterator<Item = (usize, T)> + Clone,
    start: T,
    y: &mut [T],
) {
    for (block, y) in y.chunks_exact_mut(BLOCK).enumerate() {
        let mut sums = [start; BLOCK];
        for (shift, k) in taps.clone() {
            let x = &x[block * BLOCK + shift..][..BLOCK];
            sums = array::from_fn(|i| sums[i] + k * x[i]);
        }
        y.copy_from_slice(&sums);
    }
}

/// `sum_i a[i] b[i]`, `a` in whole blocks.
#[multiversion(targets = "simd")]
fn product<T: Real>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::zero(); BLOCK];
    for (a, b) in a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK)) {
        sums = array::from_fn(|i| sums[i] + a[i] * b[i]);
    }
    sums.into_iter().sum()
}
