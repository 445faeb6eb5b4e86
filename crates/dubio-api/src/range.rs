//! Checks that settings are within their range.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::Error;
use crate::error::refuse;

/// Bins of a binned score.
pub(crate) const BINS: RangeInclusive<usize> = 1..=10_000;
/// Resamples behind an interval, or replicates of a check.
pub(crate) const RESAMPLES: RangeInclusive<usize> = 20..=1_000_000;

/// Checks that a setting is within its range.
pub(crate) fn within<T: Display + PartialOrd>(
    name: &str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<(), Error> {
    if !range.contains(&value) {
        refuse!("{name} must be from {} to {}, got {value}", range.start(), range.end());
    }
    Ok(())
}
