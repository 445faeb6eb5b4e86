//! Networks as differentiable functions of one flat parameter vector.
//!
//! A [`network::Network`] is plain data: a graph of [`layer::Layer`]s, made by hand or by name
//! ([`networks::build`]). [`engine::Engine`] is the contract with inference. [`cpu::Cpu`] is the engine
//! for CPUs: it has a kernel for each layer and buffers that are allocated once. [`weights`] reads and
//! writes parameters.

/// The engine that programs use: the processor, in single precision.
pub type Single = cpu::Cpu<f32>;
/// The processor in double precision, for checks.
pub type Double = cpu::Cpu<f64>;

pub mod cpu;
pub mod cuda;
pub mod engine;
pub mod examples;
pub mod initial;
pub mod layer;
pub mod loss;
mod mode;
pub mod network;
pub mod networks;
pub mod parameter;
pub mod real;
pub mod shape;
pub mod weights;
