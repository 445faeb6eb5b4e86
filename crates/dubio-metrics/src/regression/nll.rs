//! `nll`: negative log density of the targets, in nats per example.

use crate::card::{Card, Direction, Facts, UNBOUNDED};
use crate::regression::Outcomes;
use crate::score::{Needs, Options, Preparation, Score, mean_of};

/// `-mean_i log(1/M sum_m N(y_i; mean_mi, std_mi))`.
pub struct Nll;

const CARD: Card = Card {
    name: "nll",
    summary: "Negative log density of the targets, in nats per example.",
    formula: "-mean_i log(1/M sum_m N(y_i; mean_mi, std_mi))",
    range: (-UNBOUNDED, UNBOUNDED),
    direction: Direction::Lower,
    citation: "Lakshminarayanan et al. 2017, as a mixture and not as one matched Gaussian",
    facts: Facts::NUMBERS,
};

impl Score<Outcomes> for Nll {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Density
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        let density = outcomes.log_density.as_ref().map_err(Clone::clone)?;
        mean_of(outcomes.len(), |i| -density[i])
    }
}
