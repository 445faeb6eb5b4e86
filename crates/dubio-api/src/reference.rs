//! Predictions that others are compared with: of the same classes, and of the same examples.

use std::path::Path;

use dubio_metrics::examples::Examples;
use dubio_metrics::members::Members;
use dubio_metrics::pool::Pooled;
use dubio_predictions::{Predictions, open};
use dubio_progress::Progress;

use crate::Error;
use crate::error::refuse;
use crate::loading::pooled;

/// Opens a reference of these examples.
pub(crate) fn reference(
    path: &Path,
    examples: &Examples,
    progress: &dyn Progress,
) -> Result<Pooled, Error> {
    let Predictions::Classification(file) = open(path)? else {
        refuse!("{}: a reference must predict classes", path.display());
    };
    same_classes(path, examples.classes, file.source.width())?;
    if file.source.examples() != examples.len() {
        refuse!(
            "{}: {} examples, but the predictions have {}; a reference must predict the same examples",
            path.display(),
            file.source.examples(),
            examples.len()
        );
    }
    if let Some(labels) = &file.labels
        && let Some(i) = (0..labels.len()).find(|&i| labels[i] != examples.labels[i])
    {
        refuse!(
            "{}, array `labels`: label {} at example {i}, but the predictions have {}; the examples \
             must be the same, in the same order",
            path.display(),
            labels[i],
            examples.labels[i]
        );
    }
    pooled(&file, progress)
}

/// Checks that two files predict the same number of classes.
pub(crate) fn same_classes(path: &Path, own: usize, other: usize) -> Result<(), Error> {
    if own != other {
        refuse!("{}: {other} classes, but the predictions have {own}", path.display());
    }
    Ok(())
}
