//! What may not be put side by side.

use crate::chapter::Chapter;

/// Whether a score of several methods may stand in one table. Misclassification AUCs may not: every
/// model has its own errors to find, so the tasks differ (Ashukha et al. 2020, sec. 3.2).
pub(crate) fn may_be_compared(chapter: &Chapter<'_>, score: &str) -> bool {
    let plain = score.strip_prefix("calibrated.").unwrap_or(score);
    chapter.methods.len() < 2 || !plain.starts_with("misclassification.")
}
