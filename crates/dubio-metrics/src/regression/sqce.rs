//! `sqce`: `qce` with its sign.

use super::qce::{LevelFractions, Levels};
use crate::card::{Card, Direction, Facts};
use crate::regression::Outcomes;
use crate::score::{Needs, Options, Preparation, Score};

/// `mean_j (observed(q_j) - q_j)`. Negative is overconfident: intervals hold too little.
pub struct Sqce;

const CARD: Card = Card {
    name: "sqce",
    summary: "Mean of observed minus nominal coverage of central intervals; negative is overconfident.",
    formula: "mean_j (observed(q_j) - q_j), levels and fractions as in qce",
    range: (-1.0, 1.0),
    direction: Direction::Zero,
    citation: "Seligmann et al. 2023, sec. 4",
    facts: Facts::NUMBERS,
};

impl Score<Outcomes> for Sqce {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Distribution
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        Ok(Box::new(Levels { fractions: LevelFractions::central(outcomes)?, gap: |gap| gap }))
    }
}
