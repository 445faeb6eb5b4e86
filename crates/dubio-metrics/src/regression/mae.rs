//! `mae`: mean absolute error of the predictive mean.

use crate::card::{Card, Direction, Facts, UNBOUNDED};
use crate::regression::Outcomes;
use crate::score::{Needs, Options, Preparation, Score, mean_of};

/// `mean_i |mean_i - y_i|`.
pub struct Mae;

const CARD: Card = Card {
    name: "mae",
    summary: "Mean absolute error of the predictive mean.",
    formula: "mean_i |mean_i - y_i|; of the median for a file of quantiles",
    range: (0.0, UNBOUNDED),
    direction: Direction::Lower,
    citation: "common usage",
    facts: Facts::NUMBERS,
};

impl Score<Outcomes> for Mae {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Target
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        let point = outcomes.point.as_ref().map_err(Clone::clone)?;
        mean_of(outcomes.len(), |i| (point[i] - outcomes.targets[i]).abs())
    }
}
