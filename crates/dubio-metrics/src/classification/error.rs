//! `error`: fraction of examples whose most probable class is not the label.

use crate::card::{Card, Direction, Facts};
use crate::examples::Examples;
use crate::score::{Fraction, Needs, Options, Preparation, Score};

/// `1 - accuracy`.
pub struct Error;

const CARD: Card = Card {
    name: "error",
    summary: "Fraction of examples whose most probable class is not the label.",
    formula: "1 - accuracy",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "common usage",
    facts: Facts::CLASSES,
};

impl Score<Examples> for Error {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        Ok(Box::new(Fraction(examples.wrong())))
    }
}
