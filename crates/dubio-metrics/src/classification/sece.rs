//! `sece`: accuracy minus confidence.

use std::sync::Arc;

use super::ece::ConfidenceGaps;
use crate::card::{Card, Direction, Facts, Setting};
use crate::confidence::Gaps;
use crate::examples::Examples;
use crate::passes::AnyPass;
use crate::score::{Needs, Options, Preparation, Score, Statistic};
use crate::weights::Weights;

/// `sum_m n_m/n (acc_m - conf_m)`: `ece` without the absolute value. Negative is overconfident.
pub struct Sece;

const CARD: Card = Card {
    name: "sece",
    summary: "Accuracy minus mean confidence; negative is overconfident.",
    formula: "sum_m n_m/n (acc_m - conf_m), bins as in ece; the bins cancel, which leaves accuracy - mean c_i",
    range: (-1.0, 1.0),
    direction: Direction::Zero,
    citation: "Seligmann et al. 2023, eq. 3",
    facts: Facts { settings: &[Setting::Bins, Setting::Edges], ..Facts::CLASSES },
};

impl Score<Examples> for Sece {
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
        Ok(Box::new(Signed(ConfidenceGaps::of(examples, options))))
    }
}

struct Signed(Arc<ConfidenceGaps>);

impl Statistic for Signed {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let sums = weights.along(&self.0.bins);
        let (bins, whole) = (self.0.filled(&sums), self.0.whole(&sums, weights));
        std::array::from_fn(|l| bins.iter().map(|bin| bin.gap[l]).sum::<f64>() / whole[l])
    }
    fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        self.0.passes()
    }
}
