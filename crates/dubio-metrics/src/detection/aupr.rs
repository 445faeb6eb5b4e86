//! Average precision.

use super::{Masses, Step, Visitor};
use crate::card::{Card, Direction, Facts};

pub(super) const CARD: Card = Card {
    name: "aupr",
    summary: "Average precision of finding out-of-distribution examples, the most uncertain first.",
    formula: "sum_t (recall_t - recall_{t-1}) precision_t over thresholds of u, the largest first; u is 1 - c (confidence), H(p) (total) or the mutual information of prediction and member (model)",
    range: (0.0, 1.0),
    direction: Direction::Higher,
    citation: "common usage; as scikit-learn's average_precision_score",
    facts: Facts::NUMBERS,
};

/// `sum_t (recall_t - recall_{t-1}) precision_t`.
pub(super) struct Aupr<const L: usize> {
    found: [f64; L],
    flagged: [f64; L],
    sum: [f64; L],
}

impl<const L: usize> Aupr<L> {
    pub(super) fn new() -> Self {
        Self { found: [0.0; L], flagged: [0.0; L], sum: [0.0; L] }
    }

    /// NaN where a resample has only one kind.
    pub(super) fn value(&self, masses: &Masses<L>) -> [f64; L] {
        let both = |l: usize| masses.positives[l] > 0.0 && masses.negatives[l] > 0.0;
        std::array::from_fn(|l| if both(l) { self.sum[l] / self.found[l] } else { f64::NAN })
    }
}

impl<const L: usize> Visitor<L> for Aupr<L> {
    #[inline(always)]
    fn visit(&mut self, step: &Step<L>) {
        for l in 0..L {
            let positive = f64::from(step.positive[l]);
            self.found[l] += positive;
            self.flagged[l] += f64::from(step.before[l] + step.positive[l] + step.negative[l]);
            // Where nothing is flagged yet, nothing is found either.
            self.sum[l] += positive * self.found[l] / self.flagged[l].max(1.0);
        }
    }
}
