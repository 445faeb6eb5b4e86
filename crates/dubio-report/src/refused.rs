//! What may not be put side by side.

use dubio_metrics::compare::incomparable;

use crate::chapter::Chapter;

/// Whether a score of several methods may stand in one table. Plain likelihoods may, as long as nothing is ranked by
/// them.
pub(crate) fn may_be_compared(chapter: &Chapter<'_>, score: &str) -> bool {
    chapter.methods.len() < 2 || incomparable(score).is_none()
}
