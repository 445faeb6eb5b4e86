//! `e_aurc`: what the risk-coverage curve loses to the best possible order.

use std::sync::Arc;

use crate::card::{Card, Direction, Facts};
use crate::curves::risk_coverage::RiskCoverage;
use crate::examples::Examples;
use crate::passes::AnyPass;
use crate::score::{Needs, Options, Preparation, Score, Statistic};
use crate::weights::Weights;

/// `aurc` minus that of the order with all errors last.
pub struct EAurc;

const CARD: Card = Card {
    name: "e_aurc",
    summary: "Area under the risk-coverage curve in excess of the best possible order, all errors last.",
    formula: "aurc - 1/n sum_k max(0, k - (n - errors))/k",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Geifman, Uziel and El-Yaniv 2019",
    facts: Facts::CLASSES,
};

impl Score<Examples> for EAurc {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn before_sharing(&self, examples: &Examples, _: &Options) {
        RiskCoverage::of(examples);
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        Ok(Box::new(Excess(RiskCoverage::of(examples))))
    }
}

struct Excess(Arc<RiskCoverage>);

impl Statistic for Excess {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let areas = self.0.areas(weights);
        std::array::from_fn(|l| (areas.ranked[l] - areas.best[l]).max(0.0))
    }
    fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        vec![self.0.clone()]
    }
}
