//! False positive rate at 95 % true positive rate.

use super::{Masses, Step, Visitor};
use crate::card::{Card, Direction, Facts};

pub(super) const CARD: Card = Card {
    name: "fpr95",
    summary: "Fraction of the test set flagged where 95 % of the out-of-distribution examples are found.",
    formula: "smallest FPR among thresholds of u with TPR >= 0.95, ties on one side; u is 1 - c (confidence), H(p) (total) or the mutual information of prediction and member (model)",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Liang, Li and Srikant 2018",
    facts: Facts::NUMBERS,
};

/// Smallest false positive rate among thresholds whose true positive rate is 0.95 or more.
pub(super) struct Fpr95<const L: usize> {
    /// Twenty times the positives that have to be found: a whole number, which 0.95 of the
    /// positives need not be.
    enough: [f64; L],
    found: [f64; L],
    flagged: [f64; L],
    /// Negatives flagged where enough were first found.
    at_enough: [f64; L],
}

impl<const L: usize> Fpr95<L> {
    pub(super) fn new(masses: &Masses<L>) -> Self {
        let enough = masses.positives.map(|positives| 19.0 * positives);
        Self { enough, found: [0.0; L], flagged: [0.0; L], at_enough: [f64::NAN; L] }
    }

    /// NaN where a resample has only one kind.
    pub(super) fn value(&self, masses: &Masses<L>) -> [f64; L] {
        let both = |l: usize| masses.positives[l] > 0.0 && masses.negatives[l] > 0.0;
        std::array::from_fn(|l| {
            if both(l) { self.at_enough[l] / masses.negatives[l] } else { f64::NAN }
        })
    }
}

impl<const L: usize> Visitor<L> for Fpr95<L> {
    #[inline(always)]
    fn visit(&mut self, step: &Step<L>) {
        for l in 0..L {
            let sought = 20.0 * self.found[l] < self.enough[l];
            self.found[l] += f64::from(step.positive[l]);
            self.flagged[l] += f64::from(step.before[l] + step.negative[l]);
            let first = sought && 20.0 * self.found[l] >= self.enough[l];
            self.at_enough[l] = if first { self.flagged[l] } else { self.at_enough[l] };
        }
    }
}
