//! Approximate Bayesian inference for networks.
//!
//! A method ([`methods`]) is a rule on one flat vector; [`fit::fit`] is the one loop that runs it,
//! [`problem::Problem`] makes a network and its data a [`target::Target`], [`recipe::Recipe`] is what
//! a user writes, and [`predict`] turns a [`posterior::Posterior`] into a predictions file.
//!
//! `examples/posterior.rs`:
//!
//! ```
#![doc = include_str!("../examples/posterior.rs")]
//! ```

pub mod attack;
pub mod augment;
mod checkpoint;
mod clip;
pub mod clock;
pub mod curvature;
mod error;
pub mod fit;
pub mod fitted;
mod head;
pub mod layers;
pub mod likelihood;
pub mod lock;
pub mod memory;
pub mod methods;
pub mod noise;
pub mod optimisers;
pub mod posterior;
pub mod predict;
pub mod prior;
pub mod problem;
pub mod recipe;
pub mod regulariser;
pub mod room;
pub mod rule;
pub mod scaling;
pub mod schedule;
mod side_by_side;
mod single;
pub mod subnetwork;
pub mod target;
pub mod training;
pub mod wrong;

pub use error::Error;
