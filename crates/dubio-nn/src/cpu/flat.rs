//! Flat vectors in memory.

use std::ops::Range;

use dubio_random::stream::Stream;
use multiversion::multiversion;
use rayon::prelude::*;

use crate::engine::Vector;
use crate::matrix::{self, Matrix};
use crate::real::Real;

/// A flat vector in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Flat<T>(pub Vec<T>);

/// Numbers that share a stream of noise.
const NOISE_PIECE: usize = 4096;

impl<T> Flat<T> {
    /// The numbers of another vector, which must have the same length.
    fn numbers_of<'a>(&self, other: &'a Self) -> &'a [T] {
        assert_eq!(other.0.len(), self.0.len(), "vectors of different lengths");
        &other.0
    }

    fn pairs<'a>(
        &self,
        x: &'a Self,
        y: &'a Self,
    ) -> impl Iterator<Item = (&'a T, &'a T)> + use<'a, T> {
        self.numbers_of(x).iter().zip(self.numbers_of(y))
    }
}

impl<T: Real> Vector for Flat<T> {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn fill(&mut self, value: f64) {
        self.0.fill(T::of(value));
    }
    fn copy_from(&mut self, other: &Self) {
        self.0.copy_from_slice(&other.0);
    }
    fn scale(&mut self, a: f64) {
        let a = T::of(a);
        self.0.iter_mut().for_each(|v| *v = *v * a);
    }
    fn axpy(&mut self, a: f64, x: &Self) {
        self.combine(1.0, a, x);
    }
    fn combine(&mut self, a: f64, b: f64, x: &Self) {
        let x = self.numbers_of(x);
        combine(&mut self.0, T::of(a), T::of(b), x);
    }
    fn add_product(&mut self, a: f64, x: &Self, y: &Self) {
        let (a, pairs) = (T::of(a), self.pairs(x, y));
        self.0.iter_mut().zip(pairs).for_each(|(v, (x, y))| *v = *v + a * *x * *y);
    }
    fn add_over_root(&mut self, a: f64, x: &Self, y: &Self, floor: f64) {
        let (a, floor) = (T::of(a), T::of(floor));
        let terms = self.pairs(x, y).map(|(x, y)| a * *x / (y.sqrt() + floor));
        self.0.iter_mut().zip(terms).for_each(|(v, term)| *v = *v + term);
    }
    fn add_times_root(&mut self, a: f64, x: &Self, y: &Self) {
        let a = T::of(a);
        let terms = self.pairs(x, y).map(|(x, y)| a * *x * y.max(T::zero()).sqrt());
        self.0.iter_mut().zip(terms).for_each(|(v, term)| *v = *v + term);
    }
    fn add_quotient(&mut self, a: f64, x: &Self, y: &Self) {
        let (a, pairs) = (T::of(a), self.pairs(x, y));
        self.0.iter_mut().zip(pairs).for_each(|(v, (x, y))| *v = *v + a * *x / *y);
    }
    fn add_times_exp(&mut self, a: f64, x: &Self, y: &Self) {
        let a = T::of(a);
        let terms = self.pairs(x, y).map(|(x, y)| a * *x * y.exp());
        self.0.iter_mut().zip(terms).for_each(|(v, term)| *v = *v + term);
    }
    fn scale_sides(&mut self, matrices: &[Matrix], factors: &Self) {
        matrix::scale_sides(matrices, &mut self.0, &factors.0);
    }
    fn add_side_gradients(
        &mut self,
        a: f64,
        matrices: &[Matrix],
        gradient: &Self,
        weights: &Self,
        factors: &Self,
    ) {
        let all = [gradient, weights, factors].map(|vector| &vector.0[..]);
        matrix::add_side_gradients(&mut self.0, a, matrices, all);
    }
    fn add_weighted(&mut self, weights: &[f64], vectors: &[&Self]) {
        // A piece stays in the cache while all vectors are added to it.
        let add = |(index, piece): (usize, &mut [T])| {
            for (weight, vector) in weights.iter().zip(vectors) {
                let own = &vector.0[index * CACHED..][..piece.len()];
                combine_piece(piece, T::one(), T::of(*weight), own);
            }
        };
        match self.0.len() < SHARED {
            true => self.0.chunks_mut(CACHED).enumerate().for_each(add),
            false => self.0.par_chunks_mut(CACHED).enumerate().for_each(add),
        }
    }
    fn clip(&mut self, length: f64) {
        let own = self.dot(self).sqrt();
        if own > length {
            self.scale(length / own);
        }
    }
    fn dot(&self, other: &Self) -> f64 {
        dot(&self.0, self.numbers_of(other)).iter().sum()
    }
    fn add_noise(&mut self, std: f64, stream: &Stream) {
        self.0.par_chunks_mut(NOISE_PIECE).enumerate().for_each(|(piece, values)| {
            T::add_normals(values, std, &mut stream.nth(piece).generator());
        });
    }
    fn part(&self, range: Range<usize>) -> Self {
        Self(self.0[range].to_vec())
    }
    fn put(&mut self, start: usize, part: &Self) {
        self.0[start..start + part.0.len()].copy_from_slice(&part.0);
    }
    fn bytes_per_number(&self) -> usize {
        size_of::<T>()
    }
    fn zeros(&self, len: usize) -> Self {
        Self(vec![T::zero(); len])
    }
    fn read(&self, range: Range<usize>) -> Vec<f64> {
        self.0[range].iter().map(|v| v.wide()).collect()
    }
    fn write(&mut self, start: usize, values: &[f64]) {
        let own = self.0[start..start + values.len()].iter_mut();
        own.zip(values).for_each(|(v, x)| *v = T::of(*x));
    }
}

/// From this many numbers on, a pass over two vectors is worth more than one thread.
const SHARED: usize = 1 << 16;

/// Numbers that stay in a core's cache.
const CACHED: usize = 4096;

/// Products as eight sums side by side, each in a fixed order.
#[multiversion(targets = "simd")]
fn dot<T: Real>(a: &[T], b: &[T]) -> [f64; 8] {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut lanes = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            lanes[lane] += a[lane].wide() * b[lane].wide();
        }
    }
    for (lane, (a, b)) in lanes.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *lane += a.wide() * b.wide();
    }
    lanes
}

/// `values = a values + b x`.
fn combine<T: Real>(values: &mut [T], a: T, b: T, x: &[T]) {
    if values.len() < SHARED {
        return combine_piece(values, a, b, x);
    }
    let pieces = values.par_chunks_mut(SHARED / 2).zip(x.par_chunks(SHARED / 2));
    pieces.for_each(|(values, x)| combine_piece(values, a, b, x));
}

#[multiversion(targets = "simd")]
fn combine_piece<T: Real>(values: &mut [T], a: T, b: T, x: &[T]) {
    for (v, x) in values.iter_mut().zip(x) {
        *v = a * *v + b * *x;
    }
}
