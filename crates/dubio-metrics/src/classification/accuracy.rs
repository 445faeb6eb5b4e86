//! `accuracy`: share of examples whose most probable class is the label.

use crate::card::{Card, Direction};
use crate::examples::Examples;
use crate::score::{Needs, Options, Preparation, Score, mean_of};

/// `mean [yhat_i = y_i]`; the lowest index wins a tie.
pub struct Accuracy;

const CARD: Card = Card {
    name: "accuracy",
    summary: "Share of examples whose most probable class is the label.",
    formula: "mean [yhat_i = y_i]; the lowest index wins a tie",
    range: (0.0, 1.0),
    direction: Direction::Higher,
    citation: "common usage",
};

impl Score<Examples> for Accuracy {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        mean_of(examples.len(), |i| examples.correct(i))
    }
}
