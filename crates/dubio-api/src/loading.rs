//! Predictions files as the scores want them: members averaged, with labels or targets.

use std::path::Path;

use dubio_metrics::members::{Fault, FaultKind, Members};
use dubio_metrics::pool::{Failure, Pooled, pool, pool_spilled};
use dubio_metrics::regression::{BadNumber, Outcomes};
#[cfg(unix)]
use dubio_predictions::SpillFile;
use dubio_predictions::{Classification, Error as FileError, Regression, RegressionKind};
use dubio_progress::Progress;

use crate::Error;

/// Predictive distributions up to this many bytes stay in memory.
const IN_MEMORY: usize = 1 << 27;

/// The members' mean.
pub(crate) fn pooled(file: &Classification, progress: &dyn Progress) -> Result<Pooled, Error> {
    let (examples, classes) = (file.source.examples(), file.source.width());
    let size = 2 * size_of::<f64>() * examples * classes;
    let advance = |rows| progress.advance(rows);
    progress.start("reading", examples);
    let pooled = match size {
        // Elsewhere than on Unix files cannot be read at a place by several threads.
        #[cfg(unix)]
        IN_MEMORY.. => SpillFile::new()
            .map_err(Failure::Spill)
            .and_then(|spill| pool_spilled(&file.source, file.form, Box::new(spill), &advance)),
        _ => pool(&file.source, file.form, &advance).map_err(Failure::Fault),
    };
    pooled.map_err(|failure| match failure {
        Failure::Fault(fault) => at_fault(file, &fault),
        Failure::Spill(_) => {
            let megabytes = size.div_ceil(1_000_000);
            let advice =
                format!("set TMPDIR to a folder with room for {megabytes} MB while scoring");
            FileError::file(&std::env::temp_dir(), &failure, advice).into()
        }
    })
}

/// What is wrong with a number of a file, and what to do.
pub(crate) fn at_fault(file: &Classification, fault: &Fault) -> Error {
    let advice = match fault.kind {
        FaultKind::Sum => "give probabilities as they are, or `logits`; nothing is renormalised",
        FaultKind::Number => "mend the numbers where they are made; nothing is clipped",
    };
    FileError::array(&file.path, &file.source.name, fault, advice).into()
}

/// The labels, which a score needs.
pub(crate) fn labels(file: &Classification) -> Result<Vec<u32>, Error> {
    let missing = || {
        FileError::file(
            &file.path,
            "there is no array `labels`",
            "add the true classes, [examples]",
        )
    };
    Ok(file.labels.clone().ok_or_else(missing)?)
}

/// A regression with its targets and central intervals of this mass.
pub(crate) fn outcomes(file: &Regression, level: f64) -> Result<Outcomes, Error> {
    let targets = file.targets.clone();
    let outcomes = match &file.kind {
        RegressionKind::Gaussians(mean, std) => Outcomes::gaussians(mean, std, targets, level),
        RegressionKind::Samples(samples) => Outcomes::samples(samples, targets, level),
        RegressionKind::Quantiles(levels, quantiles) => {
            Outcomes::quantiles(levels.clone(), quantiles, targets, level)
        }
    };
    let at_fault = |bad: BadNumber| {
        FileError::array(&file.path, bad.array, &bad, "mend the numbers where they are made")
    };
    Ok(outcomes.map_err(at_fault)?)
}

/// Says how many examples have quantiles that no distribution has.
pub(crate) fn note_crossings(path: &Path, outcomes: &Outcomes, progress: &dyn Progress) {
    let (crossings, n) = (outcomes.crossings(), outcomes.len());
    if crossings > 0 {
        progress.note(&format!(
            "warning: {}: the quantiles of {crossings} of {n} examples cross; sort the quantiles of each example",
            path.display()
        ));
    }
}

/// Says which arrays of a file were not looked at.
pub(crate) fn note_ignored(path: &Path, ignored: &[String], progress: &dyn Progress) {
    if !ignored.is_empty() {
        progress.note(&format!("note: {}: not used: {}", path.display(), ignored.join(", ")));
    }
}
