//! Flat vectors on a GPU.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use dubio_random::generators::Generators;
use dubio_random::stream::Stream;
use rayon::prelude::*;

use super::device::{Buffer, Device, Place};
use crate::engine::{Descent, Vector};
use crate::matrix::{Matrix, sides};

/// A flat vector on a GPU, in single precision.
pub struct CudaVector(pub(super) Buffer<f32>);

/// Numbers that share a stream of noise.
const NOISE_PIECE: usize = 4096;

/// Blocks that a sum over a vector is cut into.
const PARTS: usize = 256;

impl CudaVector {
    pub(super) fn of(device: &Arc<Device>, numbers: &[f32]) -> Self {
        Self(Buffer::of(device, numbers))
    }

    pub(super) fn place(&self) -> Place {
        self.0.place()
    }

    fn device(&self) -> &Arc<Device> {
        self.0.device()
    }

    /// Where some of its numbers are.
    fn part_at(&self, range: &Range<usize>) -> Place {
        assert!(range.end <= self.0.len(), "numbers {range:?} of {}", self.0.len());
        self.place().plus(range.start)
    }

    /// Where another vector is, which must have the same length.
    fn place_of(&self, other: &Self) -> Place {
        assert_eq!(other.0.len(), self.0.len(), "vectors of different lengths");
        other.place()
    }

    fn each(&self, name: &'static str, arguments: &[super::device::Arg]) {
        self.device().each(name, self.0.len(), arguments);
    }

    /// Adds `a` times a function of two numbers, number by number.
    fn add_of_two(&mut self, name: &'static str, a: f64, x: &Self, y: &Self) {
        let [x, y] = [x, y].map(|other| self.place_of(other).into());
        self.each(name, &[self.place().into(), (a as f32).into(), x, y]);
    }

    /// Parts of `sum_i self_i other_i`, still on the device.
    fn product_parts(&self, other: &Self) -> Buffer<f64> {
        let parts = Buffer::zeros(self.device(), PARTS);
        let places = [self.place(), self.place_of(other), parts.place()].map(Into::into);
        let arguments = [&places[..], &[self.0.len().into()]].concat();
        self.device().launch("dot", (PARTS, 1), (256, 1), &arguments);
        parts
    }
}

impl Clone for CudaVector {
    fn clone(&self) -> Self {
        let copy = Self(Buffer::zeros(self.device(), self.0.len()));
        self.device().copy(self.place(), copy.place(), self.0.len());
        copy
    }
}

impl fmt::Debug for CudaVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} numbers on {:?}", self.0.len(), self.device())
    }
}

impl PartialEq for CudaVector {
    /// Waits.
    fn eq(&self, other: &Self) -> bool {
        let all = |vector: &Self| vector.device().download::<f32>(vector.place(), vector.0.len());
        all(self) == all(other)
    }
}

impl Vector for CudaVector {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn fill(&mut self, value: f64) {
        self.each("fill", &[self.place().into(), (value as f32).into()]);
    }
    fn copy_from(&mut self, other: &Self) {
        self.device().copy(self.place_of(other), self.place(), self.0.len());
    }
    fn scale(&mut self, a: f64) {
        self.each("scale", &[self.place().into(), (a as f32).into()]);
    }
    fn axpy(&mut self, a: f64, x: &Self) {
        self.combine(1.0, a, x);
    }
    fn combine(&mut self, a: f64, b: f64, x: &Self) {
        let x = self.place_of(x).into();
        let arguments = [self.place().into(), (a as f32).into(), (b as f32).into(), x];
        self.each("combine", &arguments);
    }
    fn descend(&mut self, velocity: &mut Self, gradient: &mut Self, by: Descent) {
        let [velocity, gradient] = [velocity, gradient].map(|other| self.place_of(other));
        let places = [self.place(), velocity, gradient].map(Into::into);
        let factors = [by.decay, by.momentum, by.rate].map(|factor| (factor as f32).into());
        self.each("descend", &[places, factors].concat());
    }
    fn add_product(&mut self, a: f64, x: &Self, y: &Self) {
        self.add_of_two("add_product", a, x, y);
    }
    fn add_over_root(&mut self, a: f64, x: &Self, y: &Self, floor: f64) {
        let [v, x, y] = [self.place(), self.place_of(x), self.place_of(y)].map(Into::into);
        self.each("add_over_root", &[v, (a as f32).into(), x, y, (floor as f32).into()]);
    }
    fn add_times_root(&mut self, a: f64, x: &Self, y: &Self) {
        self.add_of_two("add_times_root", a, x, y);
    }
    fn add_quotient(&mut self, a: f64, x: &Self, y: &Self) {
        self.add_of_two("add_quotient", a, x, y);
    }
    fn add_times_exp(&mut self, a: f64, x: &Self, y: &Self) {
        self.add_of_two("add_times_exp", a, x, y);
    }
    fn scale_sides(&mut self, matrices: &[Matrix], factors: &Self) {
        for (matrix, x, y) in sides(matrices) {
            let [x, y] = [x, y].map(|side| factors.part_at(&side).into());
            let own = self.part_at(&matrix.range).into();
            let (rows, columns) = ((matrix.rows as i32).into(), (matrix.columns as i32).into());
            let arguments = [own, x, y, rows, columns];
            self.device().each("scale_sides", matrix.range.len(), &arguments);
        }
    }
    fn add_side_gradients(
        &mut self,
        a: f64,
        matrices: &[Matrix],
        gradient: &Self,
        weights: &Self,
        factors: &Self,
    ) {
        for (matrix, x, y) in sides(matrices) {
            let there = |vector: &Self| vector.part_at(&matrix.range).into();
            let [g, w] = [gradient, weights].map(there);
            let [rows, columns, places] = [matrix.rows, matrix.columns, matrix.places()];
            // A number for each row, over the columns, and the other way round.
            for (own, other, sizes) in
                [(&x, &y, [columns, columns, 1]), (&y, &x, [1, rows, columns])]
            {
                let [step, others, other_step] = sizes.map(|size| (size as i32).into());
                let other = factors.part_at(other).into();
                let [places, all] = [places, rows * columns].map(|size| (size as i32).into());
                let to = self.part_at(own).into();
                let a = (a as f32).into();
                let arguments = [to, a, g, w, other, step, others, other_step, places, all];
                self.device().launch("side_gradient", (own.len(), 1), (256, 1), &arguments);
            }
        }
    }
    fn clip(&mut self, length: f64) {
        let parts = self.product_parts(self);
        let arguments =
            [self.place().into(), parts.place().into(), (PARTS as i32).into(), length.into()];
        self.each("clip", &arguments);
    }
    fn dot(&self, other: &Self) -> f64 {
        let parts = self.product_parts(other);
        self.device().download::<f64>(parts.place(), PARTS).iter().sum()
    }
    fn add_noise(&mut self, std: f64, stream: &Stream) {
        let pieces = self.0.len().div_ceil(NOISE_PIECE);
        let states: Vec<u32> = (0..pieces)
            .into_par_iter()
            .flat_map_iter(|piece| {
                Generators::<16>::seeded(&mut stream.nth(piece).generator()).into_states()
            })
            .collect();
        let states = Buffer::of(self.device(), &states);
        let arguments = [
            self.place().into(),
            (std as f32).into(),
            states.place().into(),
            (pieces as i32).into(),
            self.0.len().into(),
        ];
        self.device().launch("add_noise", (pieces.div_ceil(4), 1), (64, 1), &arguments);
    }
    fn part(&self, range: Range<usize>) -> Self {
        let part = Self(Buffer::zeros(self.device(), range.len()));
        self.device().copy(self.part_at(&range), part.place(), range.len());
        part
    }
    fn put(&mut self, start: usize, part: &Self) {
        let there = self.part_at(&(start..start + part.0.len()));
        self.device().copy(part.place(), there, part.0.len());
    }
    fn bytes_per_number(&self) -> usize {
        size_of::<f32>()
    }
    fn zeros(&self, len: usize) -> Self {
        Self(Buffer::zeros(self.device(), len))
    }
    fn read(&self, range: Range<usize>) -> Vec<f64> {
        let values: Vec<f32> = self.device().download(self.part_at(&range), range.len());
        values.into_iter().map(f64::from).collect()
    }
    fn write(&mut self, start: usize, values: &[f64]) {
        let values: Vec<f32> = values.iter().map(|v| *v as f32).collect();
        self.device().upload(&values, self.part_at(&(start..start + values.len())));
    }
}
