//! What may not be put side by side.

use dubio_metrics::compare::{Caution, forbidden};

use crate::chapter::Chapter;

/// Whether a score of several methods may stand in one table.
pub(crate) fn may_be_compared(chapter: &Chapter<'_>, score: &str) -> bool {
    chapter.methods.len() < 2 || refusal(score).is_none()
}

/// Why a score of several methods may not stand in one table. Plain likelihoods may, as long as they
/// are no ranking; means of detection of errors may not, as little as what they are means of.
pub(crate) fn refusal(score: &str) -> Option<Caution> {
    match score {
        "nll" => None,
        "composite.uncertainty" => forbidden("misclassification.auroc.total"),
        other => forbidden(other),
    }
}
