//! `pslml`: sum over examples of the log density of the predictive mixture.

use crate::card::{Card, Direction, Facts, UNBOUNDED};
use crate::regression::Outcomes;
use crate::score::{Needs, Options, Preparation, Score, Sum};

/// `sum_i log(1/M sum_m N(y_i; mean_mi, std_mi))`: per-sample log marginal likelihood.
pub struct Pslml;

const CARD: Card = Card {
    name: "pslml",
    summary: "Sum over examples of the log density of the predictive mixture.",
    formula: "sum_i log(1/M sum_m N(y_i; mean_mi, std_mi)) = -n nll",
    range: (-UNBOUNDED, UNBOUNDED),
    direction: Direction::Higher,
    citation: "Seligmann et al. 2023, eq. 14, with the 1/M",
    facts: Facts::NUMBERS,
};

impl Score<Outcomes> for Pslml {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Density
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        let density = outcomes.log_density.as_ref().map_err(Clone::clone)?;
        Ok(Box::new(Sum::new(density)))
    }
}
