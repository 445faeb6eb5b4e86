//! `mpiw`: mean width of the central interval (95 % unless set), in the unit of the target.

use crate::card::{Card, Direction, Facts, Setting, UNBOUNDED};
use crate::regression::Outcomes;
use crate::score::{Needs, Options, Preparation, Score, mean_of};

/// `mean_i (upper_i - lower_i)`. Narrow is good only at the coverage promised.
pub struct Mpiw;

const CARD: Card = Card {
    name: "mpiw",
    summary: "Mean width of the central interval (95 % unless set), in the unit of the target.",
    formula: "mean_i (upper_i - lower_i), negative where predicted quantiles cross",
    range: (-UNBOUNDED, UNBOUNDED),
    direction: Direction::Lower,
    citation: "Khosravi et al. 2011",
    facts: Facts { settings: &[Setting::Level], ..Facts::NUMBERS },
};

impl Score<Outcomes> for Mpiw {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Nothing
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        let interval = outcomes.interval.as_ref().map_err(Clone::clone)?;
        mean_of(outcomes.len(), |i| interval[i].1 - interval[i].0)
    }
}
