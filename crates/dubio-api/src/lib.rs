//! What every command does, as a function from plain settings to plain results.
//!
//! Nothing here parses a command line or prints: whoever calls says who is told how far the work has come
//! ([`Progress`](dubio_progress::Progress)), and gets results that serialise, or an [`Error`].

pub mod calibrate;
pub mod check;
pub mod compare;
mod costs;
pub mod dee;
pub mod destination;
pub mod diagnose;
mod error;
pub mod evaluate;
mod kept;
mod loading;
pub mod names;
pub mod plan;
mod range;
mod reference;
pub mod report;
pub mod run;
mod same;
pub mod score;
pub mod scorecard;
mod scores;
pub mod suite;

pub use error::Error;
