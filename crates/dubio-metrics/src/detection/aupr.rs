//! Average precision.

use multiversion::multiversion;

use super::Detection;
use crate::card::{Card, Direction};
use crate::score::{Count, Statistic};

pub(super) const CARD: Card = Card {
    name: "aupr",
    summary: "Average precision: precision at each threshold, weighted by the positives it adds.",
    formula: "sum_t (recall_t - recall_{t-1}) precision_t over thresholds, the most uncertain first",
    range: (0.0, 1.0),
    direction: Direction::Higher,
    citation: "common usage; as scikit-learn's average_precision_score",
};

/// `sum_t (recall_t - recall_{t-1}) precision_t`.
pub(super) struct Aupr<'a>(pub Detection<'a>);

impl Statistic for Aupr<'_> {
    fn weighted<const L: usize>(&self, weights: &[[Count; L]]) -> [f64; L] {
        aupr(&self.0, weights)
    }
    fn order(&self) -> Option<&[u32]> {
        Some(&self.0.ranking.order)
    }
}

#[multiversion(targets = "simd")]
fn aupr<const L: usize>(detection: &Detection<'_>, weights: &[[Count; L]]) -> [f64; L] {
    let mut found = [0.0; L];
    let mut flagged = [0.0; L];
    let mut sum = [0.0; L];
    detection.sweep(weights, |positive, negative| {
        for l in 0..L {
            found[l] += positive[l];
            flagged[l] += positive[l] + negative[l];
            if positive[l] > 0.0 {
                sum[l] += positive[l] * found[l] / flagged[l];
            }
        }
    });
    // NaN where a resample has only one kind.
    std::array::from_fn(|l| if found[l] < flagged[l] { sum[l] / found[l] } else { f64::NAN })
}
