//! Area under the receiver operating characteristic.

use multiversion::multiversion;

use super::Detection;
use crate::card::{Card, Direction};
use crate::score::{Count, Statistic};

pub(super) const CARD: Card = Card {
    name: "auroc",
    summary: "Probability that a positive is more uncertain than a negative.",
    formula: "P(u+ > u-) + 1/2 P(u+ = u-) over pairs of a positive and a negative",
    range: (0.0, 1.0),
    direction: Direction::Higher,
    citation: "Hanley and McNeil 1982; Hendrycks and Gimpel 2017",
};

/// `P(u+ > u-) + 1/2 P(u+ = u-)`.
pub(super) struct Auroc<'a>(pub Detection<'a>);

impl Statistic for Auroc<'_> {
    fn weighted<const L: usize>(&self, weights: &[[Count; L]]) -> [f64; L] {
        auroc(&self.0, weights)
    }
    fn order(&self) -> Option<&[u32]> {
        Some(&self.0.ranking.order)
    }
}

#[multiversion(targets = "simd")]
fn auroc<const L: usize>(detection: &Detection<'_>, weights: &[[Count; L]]) -> [f64; L] {
    let mut above = [0.0; L];
    let mut negatives = [0.0; L];
    let mut area = [0.0; L];
    detection.sweep(weights, |positive, negative| {
        for l in 0..L {
            area[l] += negative[l] * (above[l] + 0.5 * positive[l]);
            above[l] += positive[l];
            negatives[l] += negative[l];
        }
    });
    // 0/0 = NaN where a resample has only one kind.
    std::array::from_fn(|l| area[l] / (above[l] * negatives[l]))
}
