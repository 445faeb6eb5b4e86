//! The commands of dubio as functions: plain settings in, results that serialise out, or an [`Error`].
//!
//! Nothing here parses a command line or prints. The caller passes in what receives progress
//! ([`Progress`](dubio_progress::Progress)).
//!
//! ```
//! use dubio_api::evaluate::{Settings, evaluate};
//! use dubio_progress::Silent;
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("preds.csv");
//! std::fs::write(&file, "probs.0,probs.1,label\n0.9,0.1,0\n0.4,0.6,0\n")?;
//! let settings = Settings { file, scores: vec!["accuracy".into()], ..Settings::default() };
//! assert_eq!(evaluate(&settings, &Silent)?.scores[0].value, Some(0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
