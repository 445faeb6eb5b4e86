//! `aurc`: area under the risk-coverage curve.

use std::sync::Arc;

use crate::card::{Card, Direction, Facts};
use crate::curves::risk_coverage::RiskCoverage;
use crate::examples::Examples;
use crate::passes::AnyPass;
use crate::score::{Needs, Options, Preparation, Score, Statistic};
use crate::weights::Weights;

/// `1/n sum_k` of the error among the `k` most confident; runs of equal confidence share their
/// mean.
pub struct Aurc;

const CARD: Card = Card {
    name: "aurc",
    summary: "Area under the risk-coverage curve: mean error among the k most confident, over all k.",
    formula: "1/n sum_k err(k most confident), k = 1..n; runs of equal confidence share their mean",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Geifman, Uziel and El-Yaniv 2019",
    facts: Facts::CLASSES,
};

impl Score<Examples> for Aurc {
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
        Ok(Box::new(Area(RiskCoverage::of(examples))))
    }
}

/// The area under the curve.
pub(super) struct Area(pub Arc<RiskCoverage>);

impl Statistic for Area {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        self.0.areas(weights).ranked
    }
    fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        vec![self.0.clone()]
    }
}
