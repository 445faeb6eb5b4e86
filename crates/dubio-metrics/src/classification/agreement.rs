//! `agreement`: fraction of examples on which the reference predicts the same class.

use crate::card::{Card, Direction, Facts, Requires};
use crate::examples::Examples;
use crate::score::{Needs, Options, Preparation, Score, Undefined, mean};

/// `mean [argmax p_i = argmax q_i]`.
pub struct Agreement;

const CARD: Card = Card {
    name: "agreement",
    summary: "Fraction of examples on which the reference predicts the same class.",
    formula: "mean [argmax p_i = argmax q_i]",
    range: (0.0, 1.0),
    direction: Direction::Higher,
    citation: "Izmailov et al. 2021",
    facts: Facts { calibrated: false, requires: Requires::Reference, ..Facts::CLASSES },
};

impl Score<Examples> for Agreement {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Nothing
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        let gap = examples.reference.as_ref().ok_or_else(no_reference)?;
        mean(&gap.agrees)
    }
}

/// Why there is no score against a reference.
pub(super) fn no_reference() -> Undefined {
    Undefined::because("needs reference predictions (--reference FILE)")
}
