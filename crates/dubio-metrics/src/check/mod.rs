//! Posterior predictive checks: could these labels have come from the model itself?
//!
//! An ensemble is read as a way to generate data. *Bayesian*: draw one member, draw every label from it
//! (Gopal 2021, algorithm 2). *Independent*: draw a member afresh for every example (algorithm 4),
//! which is the same as drawing from the members' mean. Each replicate is scored as the observed labels
//! are, with the whole ensemble; if the observed score lies outside the range of the replicates, the
//! model's uncertainty does not match its errors.

mod draw;
mod labels;
mod relabel;
mod summary;
mod targets;

pub use labels::classification;
pub use summary::{Checked, Rule, Summary};
pub use targets::{Predictive, regression};

use dubio_progress::Progress;
use dubio_random::stream::Stream;
use serde::{Deserialize, Serialize};

use crate::score::Options;

/// How an ensemble generates data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// One member makes all labels of a replicate.
    Bayesian,
    /// Every label has a member of its own.
    Independent,
}

/// How to check.
pub struct Checking<'a> {
    /// How the ensemble makes data.
    pub mode: Mode,
    /// Number of replicates.
    pub replicates: usize,
    /// Settings of the scores.
    pub options: Options,
    /// Where the draws come from.
    pub stream: Stream,
    /// Splits of calibrated scores come from here.
    pub splits: Stream,
    /// Whether a score is wanted as a statistic.
    pub wanted: &'a (dyn Fn(&str) -> bool + Sync),
    /// Receives the progress of the work.
    pub progress: &'a dyn Progress,
}

/// Why a score that does not look at the truth cannot be checked.
const BLIND: &str = "it depends on the predictions alone, so every replicate has the same value";

/// The leading fraction of the examples that temperatures are fitted on, and that is then left out of
/// the check (Gopal 2021, app. G.1).
pub const RECALIBRATION_SHARE: f64 = 0.2;

/// Number of leading examples for the temperatures: a fifth, rounded down, but at least one.
pub fn recalibration_rows(examples: usize) -> usize {
    ((examples as f64 * RECALIBRATION_SHARE) as usize).max(1)
}
