//! `pinball`: mean pinball loss of predicted quantiles, in the unit of the target.

use crate::card::{Card, Direction, Facts, Requires, UNBOUNDED};
use crate::regression::Outcomes;
use crate::score::{Needs, Options, Preparation, Score, Undefined, mean_of};

/// Mean over examples and levels `a` of `max(a (y - q), (a - 1)(y - q))`.
pub struct Pinball;

const CARD: Card = Card {
    name: "pinball",
    summary: "Mean pinball loss of predicted quantiles, in the unit of the target.",
    formula: "mean over examples and levels a of max(a (y - q), (a - 1)(y - q))",
    range: (0.0, UNBOUNDED),
    direction: Direction::Lower,
    citation: "Koenker and Bassett 1978",
    facts: Facts { requires: Requires::Quantiles, ..Facts::NUMBERS },
};

impl Score<Outcomes> for Pinball {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Target
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        let Some((levels, quantiles)) = &outcomes.quantiles else {
            return Err(Undefined::because("needs a file of quantiles and levels"));
        };
        let n = outcomes.len();
        mean_of(n, |i| {
            let losses = levels.iter().enumerate().map(|(k, a)| {
                let gap = outcomes.targets[i] - quantiles[k * n + i];
                (a * gap).max((a - 1.0) * gap)
            });
            losses.sum::<f64>() / levels.len() as f64
        })
    }
}
