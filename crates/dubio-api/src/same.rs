//! Checks that several files predict the same examples.

use std::path::{Path, PathBuf};

use dubio_metrics::members::Members;
use dubio_predictions::{Classification, Predictions, Regression};

use crate::Error;
use crate::error::refuse;
use crate::loading::labels;

/// The truth of a file that others are compared with.
pub(crate) enum Truth {
    Labels { path: PathBuf, labels: Vec<u32>, classes: usize },
    Targets { path: PathBuf, targets: Vec<f64> },
}

impl Truth {
    pub(crate) fn of(file: &Predictions) -> Result<Self, Error> {
        match file {
            Predictions::Classification(file) => Self::of_classes(file),
            Predictions::Regression(file) => Ok(Self::of_numbers(file)),
        }
    }

    pub(crate) fn of_classes(file: &Classification) -> Result<Self, Error> {
        let (path, classes) = (file.path.clone(), file.source.width());
        Ok(Self::Labels { path, labels: labels(file)?, classes })
    }

    pub(crate) fn of_numbers(file: &Regression) -> Self {
        Self::Targets { path: file.path.clone(), targets: file.targets.clone() }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Labels { path, .. } | Self::Targets { path, .. } => path,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Labels { labels, .. } => labels.len(),
            Self::Targets { targets, .. } => targets.len(),
        }
    }

    fn array(&self) -> &'static str {
        match self {
            Self::Labels { .. } => "labels",
            Self::Targets { .. } => "targets",
        }
    }

    /// The number at an example.
    fn at(&self, example: usize) -> f64 {
        match self {
            Self::Labels { labels, .. } => f64::from(labels[example]),
            Self::Targets { targets, .. } => targets[example],
        }
    }
}

/// Checks that a file's truth is that of another, so that both predict the same examples, in the same order; says
/// where it is not.
pub(crate) fn same_examples(truth: &Truth, own: &Truth) -> Result<(), Error> {
    let (here, there) = (own.path().display(), truth.path().display());
    match (truth, own) {
        (Truth::Labels { classes, .. }, Truth::Labels { classes: others, .. }) => {
            if classes != others {
                refuse!("{here}: {others} classes, but {there} has {classes}");
            }
        }
        (Truth::Targets { .. }, Truth::Targets { .. }) => {}
        (Truth::Labels { .. }, Truth::Targets { .. }) => {
            refuse!("{here} holds a regression, but {there} a classification")
        }
        (Truth::Targets { .. }, Truth::Labels { .. }) => {
            refuse!("{here} holds a classification, but {there} a regression")
        }
    }
    if own.len() != truth.len() {
        refuse!(
            "{here}: {} examples, but {there} has {}; only predictions of the same examples can be \
             compared",
            own.len(),
            truth.len()
        );
    }
    if let Some(i) = (0..own.len()).find(|&i| own.at(i) != truth.at(i)) {
        refuse!(
            "{here}, array `{}`: {} at example {i}, but {there} has {}; the examples must be the \
             same, in the same order",
            own.array(),
            own.at(i),
            truth.at(i)
        );
    }
    Ok(())
}
