//! `top5_accuracy`: fraction of examples whose label is among the five most probable classes.

use std::sync::Arc;

use crate::card::{Card, Direction, Facts};
use crate::examples::Examples;
use crate::score::{Fraction, Options, Preparation, Score};

/// Fraction of examples with fewer than five classes before the label; among equal probabilities the
/// lower index comes first. 1 with five classes or fewer.
pub struct Top5Accuracy;

const CARD: Card = Card {
    name: "top5_accuracy",
    summary: "Fraction of examples whose label is among the five most probable classes.",
    formula: "mean [fewer than 5 classes come before y_i]; among equal probabilities the lower index comes first; 1 with five classes or fewer",
    range: (0.0, 1.0),
    direction: Direction::Higher,
    citation: "common usage",
    facts: Facts::CLASSES,
};

impl Score<Examples> for Top5Accuracy {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn before_sharing(&self, examples: &Examples, _: &Options) {
        if examples.classes > 5 {
            examples.label_rank();
        }
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        let among: Vec<bool> = match examples.classes {
            0..=5 => vec![true; examples.len()],
            _ => examples.label_rank().iter().map(|&before| before < 5).collect(),
        };
        Ok(Box::new(Fraction(Arc::new(among))))
    }
}
