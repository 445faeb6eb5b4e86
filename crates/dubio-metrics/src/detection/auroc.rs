//! Area under the receiver operating characteristic.

use super::{Masses, Step, Visitor};
use crate::card::{Card, Direction, Facts};

pub(super) const CARD: Card = Card {
    name: "auroc",
    summary: "Probability that an out-of-distribution example is more uncertain than one of the test set.",
    formula: "P(u+ > u-) + 1/2 P(u+ = u-) over pairs of a positive and a negative; u is 1 - c (confidence), H(p) (total) or the mutual information of prediction and member (model)",
    range: (0.0, 1.0),
    direction: Direction::Higher,
    citation: "Hanley and McNeil 1982; Hendrycks and Gimpel 2017",
    facts: Facts::NUMBERS,
};

/// `P(u+ > u-) + 1/2 P(u+ = u-)`, from the pairs whose negative is the more uncertain.
pub(super) struct Auroc<const L: usize> {
    negatives: [f64; L],
    lost: [f64; L],
}

impl<const L: usize> Auroc<L> {
    pub(super) fn new() -> Self {
        Self { negatives: [0.0; L], lost: [0.0; L] }
    }

    /// 0/0 = NaN where a resample has only one kind.
    pub(super) fn value(&self, masses: &Masses<L>) -> [f64; L] {
        std::array::from_fn(|l| {
            let pairs = masses.positives[l] * masses.negatives[l];
            (pairs - self.lost[l]) / pairs
        })
    }
}

impl<const L: usize> Visitor<L> for Auroc<L> {
    #[inline(always)]
    fn visit(&mut self, step: &Step<L>) {
        for l in 0..L {
            let negative = f64::from(step.negative[l]);
            self.negatives[l] += f64::from(step.before[l]);
            self.lost[l] += f64::from(step.positive[l]) * (self.negatives[l] + 0.5 * negative);
            self.negatives[l] += negative;
        }
    }
}
