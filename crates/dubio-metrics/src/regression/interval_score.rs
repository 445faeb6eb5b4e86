//! `interval_score`: width of the central interval plus a penalty for every target outside it.

use crate::card::{Card, Direction, Facts, Setting, UNBOUNDED};
use crate::regression::Outcomes;
use crate::score::{Needs, Options, Preparation, Score, mean_of};

/// `mean_i (upper_i - lower_i) + 2/(1 - level)` times the distance of `y_i` from the interval.
pub struct IntervalScore;

const CARD: Card = Card {
    name: "interval_score",
    summary: "Width of the central interval plus a penalty for each target outside it.",
    formula: "mean_i (upper_i - lower_i) + 2/(1 - level) distance of y_i from the interval; 40 times the distance at 95 %",
    range: (-UNBOUNDED, UNBOUNDED),
    direction: Direction::Lower,
    citation: "Gneiting and Raftery 2007, sec. 6.2",
    facts: Facts { settings: &[Setting::Level], ..Facts::NUMBERS },
};

impl Score<Outcomes> for IntervalScore {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Target
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, options: &Options) -> Preparation<'a> {
        let interval = outcomes.interval.as_ref().map_err(Clone::clone)?;
        let fine = 2.0 / (1.0 - options.level);
        mean_of(outcomes.len(), |i| {
            let ((lower, upper), y) = (interval[i], outcomes.targets[i]);
            upper - lower + fine * ((lower - y).max(0.0) + (y - upper).max(0.0))
        })
    }
}
