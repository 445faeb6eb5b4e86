//! Looks at the predictions of a split: its scores, and what they look like.

use std::path::Path;

use dubio_metrics::detection::ood::Uncertainties;
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Members;
use dubio_metrics::regression::{Outcomes, Parts};
use dubio_predictions::{Classification, Predictions, Regression, open, open_with_level};
use dubio_progress::Silent;
use dubio_report::view::View;

use crate::Error;
use crate::error::refuse;
use crate::loading::{labels, outcomes, pooled};

/// A split's predictions, ready to be scored.
pub(super) enum Observed {
    Classes { examples: Box<Examples>, uncertainties: Uncertainties, file: Box<Classification> },
    Numbers { outcomes: Box<Outcomes>, file: Box<Regression> },
}

/// Opens predictions that have labels or targets; intervals of a regression are of this level.
pub(super) fn observe(path: &Path, level: f64) -> Result<Observed, Error> {
    match open_with_level(path, level)? {
        Predictions::Classification(file) => {
            let labels = labels(&file)?;
            let pooled = pooled(&file, &Silent)?;
            let uncertainties = Uncertainties::of(&pooled);
            let examples = Box::new(Examples::new(pooled, labels));
            Ok(Observed::Classes { examples, uncertainties, file: Box::new(file) })
        }
        Predictions::Regression(file) => {
            let outcomes = Box::new(outcomes(&file, level, Parts::ALL)?);
            Ok(Observed::Numbers { outcomes, file: Box::new(file) })
        }
    }
}

/// The uncertainties of predictions that need no labels.
pub(super) fn uncertainties(path: &Path, classes: usize) -> Result<Uncertainties, Error> {
    let Predictions::Classification(file) = open(path)? else {
        refuse!("{}: out-of-distribution detection needs predictions of classes", path.display());
    };
    let other = file.source.width();
    if other != classes {
        refuse!("{}: {other} classes, but the test set has {classes}", path.display());
    }
    Ok(Uncertainties::of(&pooled(&file, &Silent)?))
}

impl Observed {
    pub(super) fn view(&self, split: &str) -> View {
        match self {
            Self::Classes { examples, .. } => View::classified(split, examples),
            Self::Numbers { outcomes, .. } => View::regressed(split, outcomes),
        }
    }

    /// Forward passes for one prediction.
    pub(super) fn members(&self) -> usize {
        match self {
            Self::Classes { file, .. } => file.source.members(),
            Self::Numbers { outcomes, .. } => outcomes.members,
        }
    }
}
