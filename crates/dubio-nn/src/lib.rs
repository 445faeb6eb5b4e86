//! Networks as differentiable functions of one flat parameter vector.
//!
//! [`engine::Engine`] is the contract with inference. [`cpu::Cpu`] is the engine for CPUs: a
//! [`tape::Tape`] of layers that own no numbers, run over buffers that are allocated once.
//! [`networks::build`] makes tapes by name, [`weights`] reads and writes their parameters.

pub mod cpu;
pub mod engine;
pub mod layers;
pub mod loss;
pub mod matrix;
pub mod networks;
pub mod real;
pub mod shape;
pub mod tape;
pub mod weights;
