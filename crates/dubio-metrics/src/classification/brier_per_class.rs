//! `brier_per_class`: the Brier score divided by the number of classes.

use crate::card::{Card, Direction, Facts};
use crate::examples::Examples;
use crate::score::{Mapped, Mean, Options, Preparation, Score};

/// `brier / C`.
pub struct BrierPerClass;

const CARD: Card = Card {
    name: "brier_per_class",
    summary: "The Brier score divided by the number of classes.",
    formula: "brier / C",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Ashukha et al. 2020",
    facts: Facts::CLASSES,
};

impl Score<Examples> for BrierPerClass {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn before_sharing(&self, examples: &Examples, _: &Options) {
        examples.brier();
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        let classes = examples.classes as f64;
        Ok(Box::new(Mapped(Mean::new(examples.brier()), move |brier: f64| brier / classes)))
    }
}
