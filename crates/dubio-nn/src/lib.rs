//! Networks as differentiable functions of one flat parameter vector.
//!
//! A [`network::Network`] is plain data: a graph of [`layer::Layer`]s, made by hand or by name
//! ([`networks::build`]). [`engine::Engine`] is the contract with inference. [`cpu::Cpu`] is the engine
//! for CPUs, [`cuda::Cuda`] the one for GPUs: each has a kernel for each layer and buffers that are allocated
//! once. [`Single`] is whichever a program chooses when it starts. [`weights`] reads and writes parameters.
//!
//! ```
//! use dubio_nn::networks;
//! use dubio_nn::shape::Shape;
//!
//! // A hidden layer of 20: 64 x 20 + 20 weights and biases, then 20 x 10 + 10.
//! let network = networks::build("mlp-20", Shape::image(1, 8, 8), 10)?;
//! assert_eq!(network.parameters(), 1510);
//! # Ok::<(), String>(())
//! ```

/// The processor in double precision, for checks.
pub type Double = cpu::Cpu<f64>;

pub use device::Device;
pub use precision::Precision;
pub use single::Single;

pub mod cpu;
pub mod cuda;
pub mod device;
pub mod engine;
pub mod examples;
pub mod initial;
pub mod layer;
pub mod loss;
pub mod matrix;
mod mode;
pub mod network;
pub mod networks;
pub mod parameter;
pub mod precision;
pub mod random_features;
pub mod real;
pub mod shape;
pub mod single;
pub mod weights;
