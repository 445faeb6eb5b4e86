//! What every command does, as a function from plain settings to plain results.
//!
//! Nothing here parses a command line or prints: whoever calls says who is told how far the work has come
//! ([`Listener`]), and gets results that serialise, or an [`Error`].

pub mod costs;
mod error;
pub mod groups;
mod kept;
mod listener;
pub mod loading;
pub mod names;
pub mod report;
pub mod same;
pub mod scores;

pub use error::Error;
pub use listener::{Listener, Unheard};
