//! `Layer::BatchNorm`: channels shifted and scaled to mean 0 and variance 1 over a batch.

use super::{Backward, Forward, Kernel, PIECE, Statistics, each_piece};
use crate::real::Real;
use crate::shape::Shape;

pub(super) struct BatchNorm;

const EPSILON: f64 = 1e-5;

/// Calls `f(sums of one image's channels, its index)` for every image, then adds the images'
/// sums in their order, in f64.
fn channel_sums<T: Real>(
    batch: usize,
    shape: Shape,
    scratch: &mut [T],
    totals: &mut [f64],
    f: impl Fn(usize, &mut [T]) + Send + Sync,
) {
    let channels = shape.channels;
    let room = PIECE * channels;
    let used = &mut scratch[..batch * channels];
    used.fill(T::zero());
    each_piece(batch * shape.size(), used, room, &mut [], 0, |piece, sums, _| {
        for (index, sums) in sums.chunks_exact_mut(channels).enumerate() {
            f(piece * PIECE + index, sums);
        }
    });
    totals.fill(0.0);
    for sums in used.chunks_exact(channels) {
        for (total, sum) in totals.iter_mut().zip(sums) {
            *total += sum.wide();
        }
    }
}

impl<T: Real> Kernel<T> for BatchNorm {
    fn saved(&self, input: Shape, _batch: usize) -> usize {
        2 * input.channels
    }

    fn scratch(&self, input: Shape) -> usize {
        PIECE * input.channels
    }

    fn sums(&self, input: Shape) -> usize {
        2 * input.channels
    }

    fn forward(&self, pass: Forward<'_, T>) {
        let (size, channels) = (pass.shape.size(), pass.shape.channels);
        let (sums, squares) = pass.sums[..2 * channels].split_at_mut(channels);
        let (means, scales) = pass.saved.split_at_mut(channels);
        let (running_means, running_variances) = pass.statistics.split_at_mut(channels);
        match pass.mode.statistics {
            Statistics::Running => {
                means.copy_from_slice(running_means);
                scales.copy_from_slice(running_variances);
            }
            Statistics::Batch { momentum } => {
                let image = |i: usize| pass.input[i * size..(i + 1) * size].chunks_exact(channels);
                let count = (pass.batch * pass.shape.places()) as f64;
                channel_sums(pass.batch, pass.shape, pass.scratch, sums, |i, sums| {
                    for place in image(i) {
                        sums.iter_mut().zip(place).for_each(|(s, x)| *s = *s + *x);
                    }
                });
                means.iter_mut().zip(&*sums).for_each(|(m, s)| *m = T::of(s / count));
                let means = &*means;
                channel_sums(pass.batch, pass.shape, pass.scratch, squares, |i, sums| {
                    for place in image(i) {
                        for ((s, x), m) in sums.iter_mut().zip(place).zip(means) {
                            *s = *s + (*x - *m) * (*x - *m);
                        }
                    }
                });
                scales.iter_mut().zip(&*squares).for_each(|(v, s)| *v = T::of(s / count));
                let moved = |old: &mut T, new: f64| {
                    *old = T::of((1.0 - momentum) * old.wide() + momentum * new);
                };
                for channel in 0..channels {
                    moved(&mut running_means[channel], sums[channel] / count);
                    moved(
                        &mut running_variances[channel],
                        squares[channel] / (count - 1.0).max(1.0),
                    );
                }
            }
        }
        scales.iter_mut().for_each(|v| *v = (*v + T::of(EPSILON)).sqrt().recip());
        let (weight, bias) = pass.theta.split_at(channels);
        let (means, scales) = (&*means, &*scales);
        each_piece(pass.input.len(), pass.output, PIECE * size, &mut [], 0, |piece, out, _| {
            let input = pass.input[piece * PIECE * size..].chunks_exact(channels);
            for (y, x) in out.chunks_exact_mut(channels).zip(input) {
                for c in 0..channels {
                    y[c] = (x[c] - means[c]) * (scales[c] * weight[c]) + bias[c];
                }
            }
        });
    }

    fn backward(&self, pass: Backward<'_, T>) {
        let (size, channels) = (pass.shape.size(), pass.shape.channels);
        let (means, scales) = pass.saved.split_at(channels);
        let weight = &pass.theta[..channels];
        let (normed, plain) = pass.sums[..2 * channels].split_at_mut(channels);
        let rows = |i: usize| {
            let x = pass.input[i * size..(i + 1) * size].chunks_exact(channels);
            x.zip(pass.output_gradient[i * size..(i + 1) * size].chunks_exact(channels))
        };
        channel_sums(pass.batch, pass.shape, pass.scratch, normed, |i, sums| {
            for (x, g) in rows(i) {
                for c in 0..channels {
                    sums[c] = sums[c] + g[c] * (x[c] - means[c]) * scales[c];
                }
            }
        });
        channel_sums(pass.batch, pass.shape, pass.scratch, plain, |i, sums| {
            for (_, g) in rows(i) {
                sums.iter_mut().zip(g).for_each(|(s, g)| *s = *s + *g);
            }
        });
        for c in 0..channels {
            pass.gradient[c] = pass.gradient[c] + T::of(normed[c]);
            pass.gradient[channels + c] = pass.gradient[channels + c] + T::of(plain[c]);
        }
        if pass.input_gradient.is_empty() {
            return;
        }
        // With statistics of the batch, every input moves them; with running ones, none does.
        let fraction = match pass.mode.statistics {
            Statistics::Batch { .. } => 1.0 / (pass.batch * pass.shape.places()) as f64,
            Statistics::Running => 0.0,
        };
        let (shift, tilt) = pass.scratch[..2 * channels].split_at_mut(channels);
        shift.iter_mut().zip(&*plain).for_each(|(v, s)| *v = T::of(s * fraction));
        tilt.iter_mut().zip(&*normed).for_each(|(v, s)| *v = T::of(s * fraction));
        let (shift, tilt) = (&*shift, &*tilt);
        let per_piece = PIECE * size;
        each_piece(
            pass.input.len(),
            pass.input_gradient,
            per_piece,
            &mut [],
            0,
            |piece, out, _| {
                let from = piece * per_piece;
                let x = pass.input[from..].chunks_exact(channels);
                let g = pass.output_gradient[from..].chunks_exact(channels);
                for ((dx, x), g) in out.chunks_exact_mut(channels).zip(x).zip(g) {
                    for c in 0..channels {
                        let normal = (x[c] - means[c]) * scales[c];
                        dx[c] = weight[c] * scales[c] * (g[c] - shift[c] - normal * tilt[c]);
                    }
                }
            },
        );
    }
}
