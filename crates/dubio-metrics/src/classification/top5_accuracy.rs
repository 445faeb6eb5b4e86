//! `top5_accuracy`: share of examples whose label is among the five most probable classes.

use crate::card::{Card, Direction};
use crate::examples::Examples;
use crate::score::{Options, Preparation, Score, mean_of};

/// Share of examples with fewer than five classes before the label; among equal probabilities the
/// lower index comes first. 1 with five classes or fewer.
pub struct Top5Accuracy;

const CARD: Card = Card {
    name: "top5_accuracy",
    summary: "Share of examples whose label is among the five most probable classes.",
    formula: "mean [fewer than 5 classes come before y_i]; among equal probabilities the lower index comes first; 1 with five classes or fewer",
    range: (0.0, 1.0),
    direction: Direction::Higher,
    citation: "common usage",
};

impl Score<Examples> for Top5Accuracy {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        let ranks = examples.label_rank();
        mean_of(examples.len(), |i| f64::from(u8::from(ranks[i] < 5)))
    }
}
