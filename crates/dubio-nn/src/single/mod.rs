//! The engine that programs use, chosen when they start: the processor or a GPU, in single precision.
//!
//! One type for both, so that inference is built once. What one device made is never handed to another.

mod model;
mod vector;

pub use self::model::SingleModel;
pub use self::vector::SingleVector;
use crate::cpu::Cpu;
use crate::cuda::{self, Cuda, CudaData};
use crate::engine::Engine;
use crate::examples::Examples;
use crate::network::Network;
use crate::precision::Precision;

/// A device.
#[derive(Clone, Debug)]
pub enum Single {
    /// The processor.
    Cpu(Cpu<f32>),
    /// A GPU.
    Cuda(Cuda),
}

impl Default for Single {
    /// The processor, which is always there.
    fn default() -> Self {
        Self::Cpu(Cpu::default())
    }
}

impl Single {
    /// The first GPU that the driver shows; `CUDA_VISIBLE_DEVICES` says which that is.
    pub fn gpu(precision: Precision) -> Result<Self, cuda::Error> {
        Cuda::open(0, precision).map(Self::Cuda)
    }

    /// The GPU, and the versions of the driver and of cuBLAS.
    pub fn described_gpu(&self) -> Option<String> {
        match self {
            Self::Cpu(_) => None,
            Self::Cuda(engine) => Some(engine.described()),
        }
    }
}

/// Training examples on either device.
#[derive(Clone)]
pub enum SingleData {
    /// In memory.
    Cpu(Examples<f32>),
    /// On a GPU.
    Cuda(CudaData),
}

const MIXED: &str = "what one device made is never handed to another";

impl Engine for Single {
    type Number = f32;
    type Vector = SingleVector;
    type Data = SingleData;
    type Model = SingleModel;

    fn beside(&self) -> Self {
        match self {
            Self::Cpu(engine) => Self::Cpu(engine.beside()),
            Self::Cuda(engine) => Self::Cuda(engine.beside()),
        }
    }

    fn wait(&self) {
        match self {
            Self::Cpu(engine) => engine.wait(),
            Self::Cuda(engine) => engine.wait(),
        }
    }

    fn free_bytes(&self) -> Option<u64> {
        match self {
            Self::Cpu(engine) => engine.free_bytes(),
            Self::Cuda(engine) => engine.free_bytes(),
        }
    }

    fn vector(&self, numbers: &[f32]) -> SingleVector {
        match self {
            Self::Cpu(engine) => SingleVector::Cpu(engine.vector(numbers)),
            Self::Cuda(engine) => SingleVector::Cuda(engine.vector(numbers)),
        }
    }

    fn data(&self, examples: &Examples<f32>) -> SingleData {
        match self {
            Self::Cpu(engine) => SingleData::Cpu(engine.data(examples)),
            Self::Cuda(engine) => SingleData::Cuda(engine.data(examples)),
        }
    }

    fn model(&self, network: &Network, capacity: usize) -> SingleModel {
        match self {
            Self::Cpu(engine) => SingleModel::Cpu(Box::new(engine.model(network, capacity))),
            Self::Cuda(engine) => SingleModel::Cuda(Box::new(engine.model(network, capacity))),
        }
    }
}
