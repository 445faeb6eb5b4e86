//! `mse`: mean squared error of the predictive mean.

use crate::card::{Card, Direction, Facts, UNBOUNDED};
use crate::regression::Outcomes;
use crate::score::{Needs, Options, Preparation, Score, mean_of};

/// `mean_i (mean_i - y_i)^2`.
pub struct Mse;

const CARD: Card = Card {
    name: "mse",
    summary: "Mean squared error of the predictive mean.",
    formula: "mean_i (mean_i - y_i)^2",
    range: (0.0, UNBOUNDED),
    direction: Direction::Lower,
    citation: "common usage",
    facts: Facts::NUMBERS,
};

impl Score<Outcomes> for Mse {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Target
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        let mean = outcomes.mean.as_ref().map_err(Clone::clone)?;
        mean_of(outcomes.len(), |i| (mean[i] - outcomes.targets[i]).powi(2))
    }
}
