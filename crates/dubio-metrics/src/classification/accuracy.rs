//! `accuracy`: fraction of examples whose most probable class is the label.

use std::sync::Arc;

use crate::card::{Card, Direction, Facts};
use crate::examples::Examples;
use crate::score::{Needs, Options, Preparation, Score, Statistic};
use crate::weights::Weights;

/// `mean [yhat_i = y_i]`; the lowest index wins a tie.
pub struct Accuracy;

const CARD: Card = Card {
    name: "accuracy",
    summary: "Fraction of examples whose most probable class is the label.",
    formula: "mean [yhat_i = y_i]; the lowest index wins a tie",
    range: (0.0, 1.0),
    direction: Direction::Higher,
    citation: "common usage",
    facts: Facts::CLASSES,
};

impl Score<Examples> for Accuracy {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        Ok(Box::new(Right(examples.wrong())))
    }
}

/// The fraction of the examples that are not marked as wrong.
struct Right(Arc<Vec<bool>>);

impl Statistic for Right {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let (wrong, whole) = (weights.of_marked(&self.0), weights.total());
        std::array::from_fn(|l| (whole[l] - wrong[l]) / whole[l])
    }
}
