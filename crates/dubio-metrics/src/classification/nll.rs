//! `nll`: negative log-likelihood of the labels, in nats per example.

use crate::card::{Card, Direction, Facts, Ranked, UNBOUNDED};
use crate::examples::Examples;
use crate::score::{Mapped, Mean, Options, Preparation, Score};

/// `-mean log p_i[y_i]`; infinite if a label has probability 0, never floored.
pub struct Nll;

const CARD: Card = Card {
    name: "nll",
    summary: "Negative log-likelihood of the labels, in nats per example.",
    formula: "-mean log p_i[y_i]; inf if a label has probability 0, never floored",
    range: (0.0, UNBOUNDED),
    direction: Direction::Lower,
    citation: "Good 1952, Rational decisions",
    facts: Facts { ranked: Ranked::Calibrated, ..Facts::CLASSES },
};

impl Score<Examples> for Nll {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        Ok(Box::new(Mapped(Mean::new(examples.log_likelihood()), |mean: f64| 0.0 - mean)))
    }
}
