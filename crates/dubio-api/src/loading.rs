//! Predictions files as the scores need them: members averaged, with labels or targets.

use std::path::Path;

use dubio_metrics::members::{Fault, FaultKind, Form, Members};
use dubio_metrics::pool::{Failure, Pooled, pool, pool_spilled};
use dubio_metrics::regression::{BadNumber, Outcomes, Parts};
#[cfg(unix)]
use dubio_predictions::SpillFile;
use dubio_predictions::{Classification, Error as FileError, Note, Regression, RegressionKind};
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
        // Only on Unix can several threads read a file, each at its own offset.
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
        FaultKind::Sum => {
            "fix the code that writes the file, or save `logits`; nothing is renormalised"
        }
        FaultKind::Number if file.form == Form::Probs && !fault.what.contains("NaN") => {
            "if these are logits, name the array `logits`; divide percentages by 100; nothing is clipped"
        }
        FaultKind::Number => "fix the values in the code that writes the file; nothing is clipped",
    };
    FileError::array(&file.path, &file.source.name, fault, advice).into()
}

/// The labels, which a score needs.
pub(crate) fn labels(file: &Classification) -> Result<Vec<u32>, Error> {
    Ok(file.need_labels()?.to_vec())
}

/// A regression with its targets; central intervals have this mass.
pub(crate) fn outcomes(file: &Regression, level: f64, parts: Parts) -> Result<Outcomes, FileError> {
    let targets = file.targets.clone();
    let outcomes = match &file.kind {
        RegressionKind::Gaussians(mean, std) => {
            Outcomes::gaussians(mean, std, targets, level, parts)
        }
        RegressionKind::Samples(samples) => Outcomes::samples(samples, targets, level),
        RegressionKind::Quantiles(levels, quantiles) => {
            Outcomes::quantiles(levels.clone(), quantiles, targets, level)
        }
    };
    let at_fault = |bad: BadNumber| {
        let (array, advice) = match &file.kind {
            RegressionKind::Gaussians(_, spread) if bad.array == "std" && spread.name == "var" => (
                "var",
                "this is its square root: fix the variances in the code that writes the file",
            ),
            _ => (bad.array, "fix the values in the code that writes the file"),
        };
        FileError::array(&file.path, array, &bad, advice)
    };
    outcomes.map_err(at_fault)
}

/// Notes how many examples have quantiles that cross, which those of a distribution never do.
pub(crate) fn note_crossings(path: &Path, outcomes: &Outcomes, progress: &dyn Progress) {
    let (crossings, n) = (outcomes.crossings(), outcomes.len());
    if crossings > 0 {
        progress.note(&format!(
            "warning: {}: the quantiles of {crossings} of {n} examples cross; sort the quantiles of each example",
            path.display()
        ));
    }
}

/// Tells what a user should know about how a file was read.
pub(crate) fn tell(path: &Path, notes: &[Note], progress: &dyn Progress) {
    notes.iter().for_each(|note| progress.note(&note.about(path)));
}
