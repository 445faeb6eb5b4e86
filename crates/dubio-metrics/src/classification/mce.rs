//! `mce`: the largest gap between confidence and accuracy in any bin.

use std::sync::Arc;

use super::ece::ConfidenceGaps;
use crate::card::{Card, Direction, Facts, Setting};
use crate::confidence::Gaps;
use crate::examples::Examples;
use crate::passes::AnyPass;
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
    facts: Facts { settings: &[Setting::Bins, Setting::Edges], ..Facts::CLASSES },
};

impl Score<Examples> for Mce {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn before_sharing(&self, examples: &Examples, _: &Options) {
        Gaps::of(examples);
    }
    fn prepare<'a>(&self, examples: &'a Examples, options: &Options) -> Preparation<'a> {
        Ok(Box::new(Largest(ConfidenceGaps::of(examples, options))))
    }
}

struct Largest(Arc<ConfidenceGaps>);

impl Statistic for Largest {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let sums = weights.along(&self.0.bins);
        std::array::from_fn(|l| {
            let filled = self.0.filled(&sums).iter().filter(|bin| bin.weight[l] > 0);
            filled.map(|bin| (bin.gap[l] / f64::from(bin.weight[l])).abs()).fold(0.0, f64::max)
        })
    }
    fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        self.0.passes()
    }
}
