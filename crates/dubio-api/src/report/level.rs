//! The level of central intervals that predictions can be compared at.

use dubio_metrics::score::Options;
use dubio_predictions::{Predictions, Regression, RegressionKind};

/// The level that was asked for, or 0.95; where a file of quantiles does not have its two ends, the widest that
/// all files of quantiles have.
pub(super) fn level(asked: Option<f64>, files: &[Predictions]) -> f64 {
    let ordinary = Options::default().level;
    let levels = files.iter().filter_map(|file| match file {
        Predictions::Regression(Regression {
            kind: RegressionKind::Quantiles(levels, _), ..
        }) => Some(&levels[..]),
        _ => None,
    });
    let levels: Vec<&[f64]> = levels.collect();
    let of_all = |level: f64| levels.iter().all(|own| has(own, level));
    let first = levels.first().copied().unwrap_or_default();
    let symmetric = first.iter().map(|lower| 1.0 - 2.0 * lower).filter(|level| *level > 1e-6);
    let widest = symmetric.filter(|level| of_all(*level)).fold(0.0, f64::max);
    match asked {
        Some(level) => level,
        None if of_all(ordinary) || widest == 0.0 => ordinary,
        // Single precision holds 0.05 as 0.05000000075.
        None => (widest * 1e6).round() / 1e6,
    }
}

/// Whether both ends of a central interval are among the levels of a file.
fn has(levels: &[f64], level: f64) -> bool {
    let near = |wanted: f64| levels.iter().any(|own| (own - wanted).abs() < 1e-6);
    near(0.5 - 0.5 * level) && near(0.5 + 0.5 * level)
}
