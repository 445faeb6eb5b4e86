//! `Layer::FilterResponseNorm`: channels scaled by their own mean square, example by example.

use super::{Backward, Forward, Kernel, PIECE, each_piece};
use crate::real::Real;
use crate::shape::Shape;

pub(super) struct FilterResponseNorm;

const EPSILON: f64 = 1e-6;

impl<T: Real> Kernel<T> for FilterResponseNorm {
    /// One over the root of the mean square, per channel and example.
    fn saved(&self, input: Shape, batch: usize) -> usize {
        input.channels * batch
    }

    fn scratch(&self, input: Shape) -> usize {
        2 * input.channels
    }

    fn sums(&self, input: Shape) -> usize {
        2 * input.channels
    }

    fn forward(&self, pass: Forward<'_, T>) {
        let (size, channels, places) =
            (pass.shape.size(), pass.shape.channels, pass.shape.places());
        let fraction = T::of(1.0 / places as f64);
        for (x, scales) in pass.input.chunks_exact(size).zip(pass.saved.chunks_exact_mut(channels))
        {
            scales.fill(T::zero());
            for place in x.chunks_exact(channels) {
                scales.iter_mut().zip(place).for_each(|(s, x)| *s = *s + *x * *x);
            }
            let epsilon = T::of(EPSILON);
            scales.iter_mut().for_each(|s| *s = (*s * fraction + epsilon).sqrt().recip());
        }
        let (weight, bias) = pass.theta.split_at(channels);
        let saved = &*pass.saved;
        each_piece(pass.input.len(), pass.output, PIECE * size, &mut [], 0, |piece, out, _| {
            for (index, y) in out.chunks_exact_mut(size).enumerate() {
                let example = piece * PIECE + index;
                let scales = &saved[example * channels..(example + 1) * channels];
                let x = pass.input[example * size..].chunks_exact(channels);
                for (y, x) in y.chunks_exact_mut(channels).zip(x) {
                    for c in 0..channels {
                        y[c] = weight[c] * x[c] * scales[c] + bias[c];
                    }
                }
            }
        });
    }

    fn backward(&self, pass: Backward<'_, T>) {
        let (size, channels, places) =
            (pass.shape.size(), pass.shape.channels, pass.shape.places());
        let fraction = T::of(1.0 / places as f64);
        let weight = &pass.theta[..channels];
        let (weight_sums, bias_sums) = pass.sums[..2 * channels].split_at_mut(channels);
        weight_sums.fill(0.0);
        bias_sums.fill(0.0);
        let (products, plain) = pass.scratch[..2 * channels].split_at_mut(channels);
        for example in 0..pass.batch {
            let range = example * size..(example + 1) * size;
            let (x, g) = (&pass.input[range.clone()], &pass.output_gradient[range.clone()]);
            let scales = &pass.saved[example * channels..(example + 1) * channels];
            products.fill(T::zero());
            plain.fill(T::zero());
            for (x, g) in x.chunks_exact(channels).zip(g.chunks_exact(channels)) {
                for c in 0..channels {
                    products[c] = products[c] + g[c] * x[c];
                    plain[c] = plain[c] + g[c];
                }
            }
            for c in 0..channels {
                weight_sums[c] += (products[c] * scales[c]).wide();
                bias_sums[c] += plain[c].wide();
            }
            if pass.input_gradient.is_empty() {
                continue;
            }
            let out = pass.input_gradient[range].chunks_exact_mut(channels);
            let pairs = x.chunks_exact(channels).zip(g.chunks_exact(channels));
            for (dx, (x, g)) in out.zip(pairs) {
                for c in 0..channels {
                    let drag = x[c] * scales[c] * scales[c] * products[c] * fraction;
                    dx[c] = weight[c] * scales[c] * (g[c] - drag);
                }
            }
        }
        for c in 0..channels {
            pass.gradient[c] = pass.gradient[c] + T::of(weight_sums[c]);
            pass.gradient[channels + c] = pass.gradient[channels + c] + T::of(bias_sums[c]);
        }
    }
}
