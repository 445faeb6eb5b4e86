//! `total_variation`: distance to the reference's probabilities.

use super::agreement::no_reference;
use crate::card::{Card, Direction, Facts, Requires};
use crate::examples::Examples;
use crate::score::{Needs, Options, Preparation, Score, mean};

/// `mean_i 1/2 sum_c |p_ic - q_ic|`.
pub struct TotalVariation;

const CARD: Card = Card {
    name: "total_variation",
    summary: "Distance to the reference's probabilities.",
    formula: "mean_i 1/2 sum_c |p_ic - q_ic|",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Izmailov et al. 2021",
    facts: Facts { calibrated: false, requires: Requires::Reference, ..Facts::CLASSES },
};

impl Score<Examples> for TotalVariation {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Nothing
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        let gap = examples.reference.as_ref().ok_or_else(no_reference)?;
        mean(&gap.total_variation)
    }
}
