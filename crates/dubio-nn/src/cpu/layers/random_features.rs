//! `Layer::RandomFeatures`: `sqrt(2 / features) cos(W x + b)`.

use rayon::prelude::*;

use super::linear::by_rows;
use super::{Backward, Forward, Kernel, PIECE, WORTH_SHARING};
use crate::cpu::matrix::{Matrix, Store, multiply};
use crate::random_features::Numbers;
use crate::real::Real;
use crate::shape::Shape;

pub(super) struct RandomFeatures<T> {
    directions: Vec<T>,
    phases: Vec<T>,
    scale: T,
}

impl<T: Real> RandomFeatures<T> {
    pub(super) fn new(numbers: Numbers) -> Self {
        let of = |all: &[f64]| all.iter().map(|x| T::of(*x)).collect();
        let (directions, phases) = (of(&numbers.directions), of(&numbers.phases));
        Self { directions, phases, scale: T::of(numbers.scale()) }
    }
}

/// A sine and a cosine of a number cost about as much as this many products.
const WAVE: usize = 32;

impl<T: Real> Kernel<T> for RandomFeatures<T> {
    /// The slopes.
    fn saved(&self, _: Shape, batch: usize) -> usize {
        self.phases.len() * batch
    }
    fn scratch(&self, _: Shape) -> usize {
        PIECE * self.phases.len()
    }

    fn forward(&self, pass: Forward<'_, T>) {
        let (inputs, features) = (pass.shape.size(), self.phases.len());
        let directions = Matrix::new(&self.directions, features, inputs).transposed();
        let work = 2 * pass.batch * inputs * features;
        by_rows(work, pass.output, features, |first, out| {
            let rows = out.len() / features;
            out.chunks_exact_mut(features).for_each(|row| row.copy_from_slice(&self.phases));
            let x = Matrix::new(&pass.input[first * inputs..], rows, inputs);
            multiply(x, directions, out, Store::Add);
        });
        let wave = |(out, slopes): (&mut [T], &mut [T])| {
            for (y, slope) in out.iter_mut().zip(slopes) {
                let (sin, cos) = y.sin_cos();
                (*y, *slope) = (self.scale * cos, -self.scale * sin);
            }
        };
        let size = PIECE * features;
        if WAVE * pass.output.len() < WORTH_SHARING {
            pass.output.chunks_mut(size).zip(pass.saved.chunks_mut(size)).for_each(wave);
        } else {
            pass.output.par_chunks_mut(size).zip(pass.saved.par_chunks_mut(size)).for_each(wave);
        }
    }

    fn backward(&self, pass: Backward<'_, T>) {
        if pass.input_gradient.is_empty() {
            return;
        }
        let (inputs, features) = (pass.shape.size(), self.phases.len());
        let turned = &mut pass.scratch[..pass.batch * features];
        for ((to, g), slope) in turned.iter_mut().zip(pass.output_gradient).zip(pass.saved) {
            *to = *g * *slope;
        }
        let turned = &*turned;
        let directions = Matrix::new(&self.directions, features, inputs);
        let work = 2 * pass.batch * inputs * features;
        by_rows(work, pass.input_gradient, inputs, |first, out| {
            let rows = out.len() / inputs;
            let g = Matrix::new(&turned[first * features..], rows, features);
            multiply(g, directions, out, Store::Replace);
        });
    }
}
