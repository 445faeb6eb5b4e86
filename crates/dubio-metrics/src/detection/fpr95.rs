//! False positive rate at 95 % true positive rate.

use multiversion::multiversion;

use super::Detection;
use crate::card::{Card, Direction};
use crate::score::{Count, Statistic};

pub(super) const CARD: Card = Card {
    name: "fpr95",
    summary: "Share of negatives flagged at the strictest threshold that finds 95 % of the positives.",
    formula: "smallest FPR among thresholds with TPR >= 0.95; equal uncertainties fall together",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Liang, Li and Srikant 2018",
};

/// Smallest false positive rate among thresholds whose true positive rate is 0.95 or more.
pub(super) struct Fpr95<'a>(pub Detection<'a>);

impl Statistic for Fpr95<'_> {
    fn weighted<const L: usize>(&self, weights: &[[Count; L]]) -> [f64; L] {
        fpr95(&self.0, weights)
    }
    fn order(&self) -> Option<&[u32]> {
        Some(&self.0.ranking.order)
    }
}

#[multiversion(targets = "simd")]
fn fpr95<const L: usize>(detection: &Detection<'_>, weights: &[[Count; L]]) -> [f64; L] {
    let (positives, negatives) = detection.masses(weights);
    let mut found = [0.0; L];
    let mut flagged = [0.0; L];
    let mut rate = [f64::NAN; L];
    detection.sweep(weights, |positive, negative| {
        for l in 0..L {
            found[l] += positive[l];
            flagged[l] += negative[l];
            // Counts times twenty are exact where 0.95 is not.
            let enough = found[l] * 20.0 >= positives[l] * 19.0;
            if rate[l].is_nan() && enough && positives[l] > 0.0 {
                rate[l] = flagged[l] / negatives[l];
            }
        }
    });
    rate
}
