//! Predicted distributions of a number: quantiles, calibration, sharpness.

use dubio_metrics::regression::Outcomes;
use serde::{Deserialize, Serialize};

use super::{POINTS, fraction};

/// Bins of a PIT histogram.
pub const PIT_BINS: usize = 20;
/// Examples that are shown one by one, at most.
const SHOWN: usize = 400;

/// A level of predicted quantiles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuantileView {
    /// The level.
    pub level: f64,
    /// Fraction of targets at or below the quantile.
    pub below: f64,
}

/// An example with its prediction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// True value.
    pub target: f64,
    /// Predictive mean, or median of quantiles.
    pub point: f64,
    /// Ends of the central interval, where it is known.
    pub interval: Option<(f64, f64)>,
}

/// How many targets lie below each predicted quantile.
pub(super) fn quantiles(outcomes: &Outcomes) -> Option<Vec<QuantileView>> {
    let (levels, values) = outcomes.quantiles.as_ref()?;
    let n = outcomes.len();
    let of = |(level, row): (&f64, &[f64])| {
        let below = outcomes.targets.iter().zip(row).filter(|(y, q)| y <= q).count();
        // A file in single precision holds 0.975 as 0.97500002.
        let level = (level * 1e6).round() / 1e6;
        QuantileView { level, below: below as f64 / n as f64 }
    };
    Some(levels.iter().zip(values.chunks(n)).map(of).collect())
}

/// Histogram of the probability integral transform `F(y)`, as fractions; flat for calibrated predictions.
pub(super) fn pit(outcomes: &Outcomes) -> Option<Vec<f64>> {
    let values = outcomes.cdf.as_deref().ok()?;
    let mut fractions = vec![0.0; PIT_BINS];
    for value in values {
        let bin = (value * PIT_BINS as f64) as usize;
        fractions[bin.min(PIT_BINS - 1)] += 1.0 / values.len() as f64;
    }
    Some(fractions)
}

/// The width of the central interval at each fraction of the examples, the narrowest first.
pub(super) fn widths(outcomes: &Outcomes) -> Option<Vec<f64>> {
    let intervals = outcomes.interval.as_deref().ok()?;
    let mut all: Vec<f64> = intervals.iter().map(|(lo, hi)| hi - lo).collect();
    all.sort_by(f64::total_cmp);
    let at = |i: usize| all[((all.len() - 1) as f64 * fraction(i)).round() as usize];
    Some((0..POINTS).map(at).collect())
}

/// Examples with their predictions, evenly spread over the file where there are many.
pub(super) fn predicted(outcomes: &Outcomes) -> Option<Vec<Predicted>> {
    let points = outcomes.point.as_deref().ok()?;
    let step = points.len().div_ceil(SHOWN).max(1);
    let intervals = outcomes.interval.as_deref().ok();
    let of = |i: usize| Predicted {
        target: outcomes.targets[i],
        point: points[i],
        interval: intervals.map(|intervals| intervals[i]),
    };
    Some((0..points.len()).step_by(step).map(of).collect())
}

#[cfg(test)]
mod tests {
    use dubio_metrics::members::InMemory;
    use dubio_metrics::regression::Parts;

    use super::*;

    /// Standard normal predictions of 1,000 targets at the quantiles of N(0, 1): the histogram is flat, and every
    /// interval is 2 x 1.959963984540054 wide.
    #[test]
    fn targets_from_the_predictions_give_a_flat_histogram() {
        let n = 1000;
        let made = |value: f64| InMemory::new(vec![value; n], [1, n, 1]).expect("it fits");
        let at = |i: usize| dubio_metrics::numeric::normal::quantile((i as f64 + 0.5) / n as f64);
        let targets: Vec<f64> = (0..n).map(at).collect();
        let outcomes = Outcomes::gaussians(&made(0.0), &made(1.0), targets, 0.95, Parts::ALL)
            .expect("numbers");
        for fraction in pit(&outcomes).expect("a distribution") {
            assert!((fraction - 0.05).abs() < 1e-9, "{fraction}");
        }
        let widths = widths(&outcomes).expect("intervals");
        assert!(widths.iter().all(|w| (w - 2.0 * 1.959963984540054).abs() < 1e-9));
        let shown = predicted(&outcomes).expect("means");
        assert_eq!((shown.len(), shown[1].target), (334, outcomes.targets[3]));
    }
}
