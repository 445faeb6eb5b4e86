//! What can go wrong, and what to do about it.

use std::path::{Path, PathBuf};

use dubio_words::unknown;

use crate::wrong::Wrong;

/// Why inference could not begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The loss is no longer a number.
    #[error(
        "the loss became {loss} in epoch {epoch}, step {step}; use a smaller learning rate \
         (`lr`, now {rate:.3e} at this step) or a narrower prior"
    )]
    Diverged {
        /// What it became.
        loss: f64,
        /// Counted from 1.
        epoch: usize,
        /// Counted from 1 inside the epoch.
        step: usize,
        /// The learning rate of the step.
        rate: f64,
    },
    /// A sample that no prediction can be made with.
    #[error(
        "the sample after {after} contains infinities or NaN; use a smaller learning rate (`lr`) or a \
         narrower prior"
    )]
    NotFinite {
        /// Which epoch or draw, counted from 1.
        after: String,
    },
    /// A prediction that is infinite or NaN; a file with one would pass for a result.
    #[error(
        "sample {sample} predicts {value} for example {example}; use a smaller learning rate (`lr`) \
         or a narrower prior"
    )]
    Predicted {
        /// Counted from 0.
        sample: usize,
        /// Counted from 0.
        example: usize,
        /// What it predicts.
        value: f32,
    },
    /// A chain that cannot start or go on, for instance because its potential is not finite.
    #[error("{0}")]
    Chain(String),
    /// A mini-batch larger than the training set.
    #[error(
        "`batch` is {batch}, but there are only {examples} training examples; give at most {examples}"
    )]
    BatchTooLarge {
        /// Asked for.
        batch: usize,
        /// There are.
        examples: usize,
    },
    /// A class that nothing can be learnt about.
    #[error(
        "class {class} of {classes} has no training example; keep at least one, or renumber the classes without it"
    )]
    EmptyClass {
        /// The first such class.
        class: usize,
        /// How many classes there are.
        classes: usize,
    },
    /// A method that does not exist.
    #[error("{}", unknown("method", name, known.iter().copied()))]
    UnknownMethod {
        /// What was asked for.
        name: String,
        /// The methods that exist.
        known: Vec<&'static str>,
    },
    /// An invalid setting.
    #[error("{method}: {wrong}")]
    Setting {
        /// The method that the setting belongs to.
        method: String,
        /// Which setting, and what is wrong with it.
        wrong: Wrong,
    },
    /// A network, data and settings that do not go together.
    #[error("{0}")]
    Unsuited(String),
    /// A file that cannot be read or written.
    #[error("{path}: {what}; {advice}")]
    File {
        /// Which.
        path: PathBuf,
        /// What happened.
        what: String,
        /// What to do.
        advice: &'static str,
    },
    /// A checkpoint that cannot be resumed: damaged, incomplete, or of another run.
    #[error("{path}: {what}; delete the folder to start over")]
    Checkpoint {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Weights that cannot be written.
    #[error(transparent)]
    Weights(#[from] dubio_nn::weights::Error),
    /// Somebody asked for a stop.
    #[error("stopped")]
    Stopped,
}

impl Error {
    /// A setting of this method.
    pub(crate) fn setting(method: &str, wrong: Wrong) -> Self {
        Self::Setting { method: method.to_string(), wrong }
    }

    pub(crate) fn file(path: &Path, what: impl ToString, advice: &'static str) -> Self {
        Self::File { path: path.to_path_buf(), what: what.to_string(), advice }
    }

    pub(crate) fn checkpoint(path: &Path, what: impl ToString) -> Self {
        Self::Checkpoint { path: path.to_path_buf(), what: what.to_string() }
    }
}
