//! The engine for CPUs.

mod flat;
mod gather;
mod layers;
mod matrix;
mod model;
mod seed;
mod step;
mod tape;

use std::marker::PhantomData;

pub use flat::Flat;
pub use model::Model;

use crate::engine::Engine;
use crate::examples::Examples;
use crate::network::Network;
use crate::real::Real;

/// The processor and its memory, for numbers of one type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu<T>(PhantomData<T>);

impl<T: Real> Engine for Cpu<T> {
    type Number = T;
    type Vector = Flat<T>;
    type Data = Examples<T>;
    type Model = Model<T>;

    fn vector(&self, numbers: &[T]) -> Flat<T> {
        Flat(numbers.to_vec())
    }

    /// Nothing is copied: the host's memory is the device's.
    fn data(&self, examples: &Examples<T>) -> Examples<T> {
        examples.clone()
    }

    fn model(&self, network: &Network, capacity: usize) -> Model<T> {
        Model::new(network, capacity)
    }
}
