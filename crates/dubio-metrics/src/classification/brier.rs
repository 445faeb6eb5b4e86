//! `brier`: squared distance between the predicted probabilities and the label's, summed over classes.

use crate::card::{Card, Direction, Facts};
use crate::examples::Examples;
use crate::score::{Options, Preparation, Score, mean};

/// `mean_i sum_c (p_ic - [y_i = c])^2`.
pub struct Brier;

const CARD: Card = Card {
    name: "brier",
    summary: "Squared distance between the predicted probabilities and the label's, summed over classes.",
    formula: "mean_i sum_c (p_ic - [y_i = c])^2",
    range: (0.0, 2.0),
    direction: Direction::Lower,
    citation: "Brier 1950; the sum over classes as in Vadera et al. 2020 and the UCE paper",
    facts: Facts::CLASSES,
};

impl Score<Examples> for Brier {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn before_sharing(&self, examples: &Examples, _: &Options) {
        examples.brier();
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        mean(examples.brier())
    }
}
