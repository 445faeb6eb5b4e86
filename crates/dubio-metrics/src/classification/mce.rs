//! `mce`: the largest gap between confidence and accuracy in any bin.

use std::sync::Arc;

use super::ece::ConfidenceGaps;
use crate::card::{Card, Direction};
use crate::examples::Examples;
use crate::score::{Needs, Options, Preparation, Score, Statistic};
use crate::weights::Weights;

/// `max_m |acc_m - conf_m|` over the bins that hold an example.
pub struct Mce;

const CARD: Card = Card {
    name: "mce",
    summary: "Largest gap between confidence and accuracy in any bin of confidence.",
    formula: "max_m |acc_m - conf_m| over non-empty bins, bins as in ece",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Naeini et al. 2015",
};

impl Score<Examples> for Mce {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn prepare<'a>(&self, examples: &'a Examples, options: &Options) -> Preparation<'a> {
        Ok(Box::new(Largest(ConfidenceGaps::of(examples, options))))
    }
}

struct Largest(Arc<ConfidenceGaps>);

impl Statistic for Largest {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let sums = self.0.sums(weights);
        std::array::from_fn(|l| {
            let bins = self.0.filled(&sums).iter().zip(&sums.weight);
            let filled = bins.filter(|(_, weight)| weight[l] > 0.0);
            filled.map(|(gap, weight)| (gap[l] / weight[l]).abs()).fold(0.0, f64::max)
        })
    }
}
