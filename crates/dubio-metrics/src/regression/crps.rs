//! `crps`: the continuous ranked probability score.

use crate::card::{Card, Direction, Facts, UNBOUNDED};
use crate::regression::Outcomes;
use crate::score::{Options, Preparation, Score, mean};

/// `mean_i int (F_i(x) - [x >= y_i])^2 dx`, in the unit of the target.
pub struct Crps;

const CARD: Card = Card {
    name: "crps",
    summary: "Continuous ranked probability score: the Brier score over all thresholds, in the unit of the target.",
    formula: "mean_i E|X - y_i| - 1/2 E|X - X'|, X and X' independent from the predictive distribution; closed form for Gaussian mixtures, exact for draws",
    range: (0.0, UNBOUNDED),
    direction: Direction::Lower,
    citation: "Gneiting and Raftery 2007; mixtures: Grimit et al. 2006",
    facts: Facts::NUMBERS,
};

impl Score<Outcomes> for Crps {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        mean(outcomes.crps.as_ref().map_err(Clone::clone)?)
    }
}
