//! `rmse`: root mean squared error of the predictive mean.

use crate::card::{Card, Direction, Facts, UNBOUNDED};
use crate::regression::Outcomes;
use crate::score::{Mapped, Mean, Needs, Options, Preparation, Score};

/// `sqrt(mse)`.
pub struct Rmse;

const CARD: Card = Card {
    name: "rmse",
    summary: "Root mean squared error of the predictive mean.",
    formula: "sqrt(mse)",
    range: (0.0, UNBOUNDED),
    direction: Direction::Lower,
    citation: "common usage",
    facts: Facts::NUMBERS,
};

impl Score<Outcomes> for Rmse {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Target
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        let mean = outcomes.mean.as_ref().map_err(Clone::clone)?;
        let squared: Vec<f64> =
            mean.iter().zip(&outcomes.targets).map(|(m, y)| (m - y).powi(2)).collect();
        Ok(Box::new(Mapped(Mean::new(squared), f64::sqrt)))
    }
}
