//! Vectors of either device.

use std::ops::Range;

use dubio_random::stream::Stream;

use super::MIXED;
use crate::cpu::Flat;
use crate::cuda::CudaVector;
use crate::engine::{Descent, Vector};
use crate::matrix::Matrix;

/// A vector of either device.
#[derive(Clone, Debug, PartialEq)]
pub enum SingleVector {
    /// In memory.
    Cpu(Flat<f32>),
    /// On a GPU.
    Cuda(CudaVector),
}

impl SingleVector {
    pub(super) fn cpu(&self) -> &Flat<f32> {
        if let Self::Cpu(vector) = self { vector } else { panic!("{MIXED}") }
    }
    pub(super) fn cpu_mut(&mut self) -> &mut Flat<f32> {
        if let Self::Cpu(vector) = self { vector } else { panic!("{MIXED}") }
    }
    pub(super) fn cuda(&self) -> &CudaVector {
        if let Self::Cuda(vector) = self { vector } else { panic!("{MIXED}") }
    }
    pub(super) fn cuda_mut(&mut self) -> &mut CudaVector {
        if let Self::Cuda(vector) = self { vector } else { panic!("{MIXED}") }
    }
}

/// The same call on whichever device it is; further vectors must be on that device.
macro_rules! either {
    ($self:expr, $own:ident $(, $other:ident)* => $call:expr) => {
        match $self {
            SingleVector::Cpu($own) => {
                $(let $other = $other.cpu();)*
                $call
            }
            SingleVector::Cuda($own) => {
                $(let $other = $other.cuda();)*
                $call
            }
        }
    };
}

impl Vector for SingleVector {
    fn len(&self) -> usize {
        either!(self, v => v.len())
    }
    fn fill(&mut self, value: f64) {
        either!(self, v => v.fill(value));
    }
    fn copy_from(&mut self, other: &Self) {
        either!(self, v, other => v.copy_from(other));
    }
    fn scale(&mut self, a: f64) {
        either!(self, v => v.scale(a));
    }
    fn axpy(&mut self, a: f64, x: &Self) {
        either!(self, v, x => v.axpy(a, x));
    }
    fn combine(&mut self, a: f64, b: f64, x: &Self) {
        either!(self, v, x => v.combine(a, b, x));
    }
    fn descend(&mut self, velocity: &mut Self, gradient: &mut Self, by: Descent) {
        match self {
            Self::Cpu(v) => v.descend(velocity.cpu_mut(), gradient.cpu_mut(), by),
            Self::Cuda(v) => v.descend(velocity.cuda_mut(), gradient.cuda_mut(), by),
        }
    }
    fn add_product(&mut self, a: f64, x: &Self, y: &Self) {
        either!(self, v, x, y => v.add_product(a, x, y));
    }
    fn add_over_root(&mut self, a: f64, x: &Self, y: &Self, floor: f64) {
        either!(self, v, x, y => v.add_over_root(a, x, y, floor));
    }
    fn add_times_root(&mut self, a: f64, x: &Self, y: &Self) {
        either!(self, v, x, y => v.add_times_root(a, x, y));
    }
    fn add_quotient(&mut self, a: f64, x: &Self, y: &Self) {
        either!(self, v, x, y => v.add_quotient(a, x, y));
    }
    fn add_times_exp(&mut self, a: f64, x: &Self, y: &Self) {
        either!(self, v, x, y => v.add_times_exp(a, x, y));
    }
    fn scale_sides(&mut self, matrices: &[Matrix], factors: &Self) {
        either!(self, v, factors => v.scale_sides(matrices, factors));
    }
    fn add_side_gradients(
        &mut self,
        a: f64,
        matrices: &[Matrix],
        gradient: &Self,
        weights: &Self,
        factors: &Self,
    ) {
        either!(self, v, gradient, weights, factors => {
            v.add_side_gradients(a, matrices, gradient, weights, factors);
        });
    }
    fn clip(&mut self, length: f64) {
        either!(self, v => v.clip(length));
    }
    fn dot(&self, other: &Self) -> f64 {
        either!(self, v, other => v.dot(other))
    }
    fn add_noise(&mut self, std: f64, stream: &Stream) {
        either!(self, v => v.add_noise(std, stream));
    }
    fn part(&self, range: Range<usize>) -> Self {
        match self {
            Self::Cpu(v) => Self::Cpu(v.part(range)),
            Self::Cuda(v) => Self::Cuda(v.part(range)),
        }
    }
    fn put(&mut self, start: usize, part: &Self) {
        either!(self, v, part => v.put(start, part));
    }
    fn bytes_per_number(&self) -> usize {
        size_of::<f32>()
    }
    fn zeros(&self, len: usize) -> Self {
        match self {
            Self::Cpu(v) => Self::Cpu(v.zeros(len)),
            Self::Cuda(v) => Self::Cuda(v.zeros(len)),
        }
    }
    fn read(&self, range: Range<usize>) -> Vec<f64> {
        either!(self, v => v.read(range))
    }
    fn write(&mut self, start: usize, values: &[f64]) {
        either!(self, v => v.write(start, values));
    }
}
