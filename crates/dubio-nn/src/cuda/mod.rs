//! The engine for NVIDIA's GPUs, in single precision.
//!
//! The driver and its libraries are loaded when a GPU is asked for, so the same program runs without one. Noise
//! and masks are the very numbers that the CPU's engine draws; sums run in a fixed order, so the same seed gives
//! the same bytes on the same kind of GPU.

mod data;
mod device;
mod error;
mod halves;
mod layers;
mod libraries;
mod model;
mod replays;
mod tape;
mod vector;

use std::sync::Arc;

use rayon::prelude::*;

pub use data::CudaData;
pub use error::{Error, can_count, guarded};
pub use libraries::look_among_packages;
pub use model::CudaModel;
pub use vector::CudaVector;

use crate::engine::Engine;
use crate::examples::Examples;
use crate::network::Network;
use crate::precision::Precision;
use device::Device;

/// A GPU and its memory.
#[derive(Clone, Debug)]
pub struct Cuda(Arc<Device>);

impl Cuda {
    /// The GPU of this number, from 0.
    pub fn open(ordinal: usize, precision: Precision) -> Result<Self, Error> {
        Device::open(ordinal, precision).map(Self)
    }

    /// The GPU, and the versions of the driver and of cuBLAS: on the same ones the same seed gives the same bytes.
    pub fn described(&self) -> String {
        self.0.described()
    }
}

/// Whether the first GPU can be used: an error says what is missing.
pub fn look() -> Result<(), Error> {
    libraries::load()?;
    match Device::count()? {
        0 => Err(Error::NoDevice),
        _ => Device::check_age_of(0),
    }
}

/// Bytes of the first GPU's memory that are free.
pub fn free_bytes() -> Result<u64, Error> {
    look()?;
    Device::free_bytes_of(0)
}

/// Compiles every kernel for a kind of GPU, such as `compute_90`. This takes NVRTC, but no GPU.
pub fn compile_kernels(architecture: &str) -> Result<(), Error> {
    libraries::load_compiler()?;
    let all = [Precision::F32, Precision::Tf32, Precision::Bf16];
    all.into_par_iter().try_for_each(|one| device::compile(architecture, one).map(|_| ()))?;
    let programs = layers::programs().flat_map(|program| all.map(|precision| (program, precision)));
    let hopper = layers::hopper_programs().filter(|_| architecture == "compute_90");
    programs
        .chain(hopper.map(|program| (program, Precision::Bf16)))
        .collect::<Vec<_>>()
        .into_par_iter()
        .try_for_each(|(program, precision)| program.compile(architecture, precision).map(|_| ()))
}

impl Engine for Cuda {
    type Number = f32;
    type Vector = CudaVector;
    type Data = CudaData;
    type Model = CudaModel;

    fn beside(&self) -> Self {
        Self(self.0.beside())
    }

    fn wait(&self) {
        self.0.wait();
    }

    fn free_bytes(&self) -> Option<u64> {
        self.0.free_bytes()
    }

    fn vector(&self, numbers: &[f32]) -> CudaVector {
        CudaVector::of(&self.0, numbers)
    }

    fn data(&self, examples: &Examples<f32>) -> CudaData {
        CudaData::new(&self.0, examples)
    }

    fn model(&self, network: &Network, capacity: usize) -> CudaModel {
        CudaModel::new(&self.0, network, capacity)
    }
}
