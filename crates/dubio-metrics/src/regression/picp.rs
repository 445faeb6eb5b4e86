//! `picp`: fraction of targets inside the central interval (95 % unless set).

use crate::card::{Card, Direction, Facts, Setting};
use crate::regression::Outcomes;
use crate::score::{Needs, Options, Preparation, Score, mean_of};

/// `mean_i [lower_i <= y_i <= upper_i]`. Best near the level, not at 1.
pub struct Picp;

const CARD: Card = Card {
    name: "picp",
    summary: "Fraction of targets inside the central interval (95 % unless set).",
    formula: "mean_i [lower_i <= y_i <= upper_i]",
    range: (0.0, 1.0),
    direction: Direction::Neither,
    citation: "Khosravi et al. 2011",
    facts: Facts { settings: &[Setting::Level], ..Facts::NUMBERS },
};

impl Score<Outcomes> for Picp {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Target
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        let interval = outcomes.interval.as_ref().map_err(Clone::clone)?;
        mean_of(outcomes.len(), |i| {
            let (lower, upper) = interval[i];
            f64::from(u8::from((lower..=upper).contains(&outcomes.targets[i])))
        })
    }
}
