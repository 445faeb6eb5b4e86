//! `decision_cost_mean`: mean cost of the decisions with the least expected cost.

use super::decision_cost::no_costs;
use crate::card::{Card, Direction, Facts, Requires, UNBOUNDED};
use crate::examples::Examples;
use crate::score::{Options, Preparation, Score, mean};

/// `decision_cost / n`.
pub struct DecisionCostMean;

const CARD: Card = Card {
    name: "decision_cost_mean",
    summary: "Mean cost of the decisions with the least expected cost.",
    formula: "decision_cost / n",
    range: (-UNBOUNDED, UNBOUNDED),
    direction: Direction::Lower,
    citation: "Vadera et al. 2020, app. A",
    facts: Facts { requires: Requires::Costs, ..Facts::CLASSES },
};

impl Score<Examples> for DecisionCostMean {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        mean(examples.cost.as_ref().ok_or_else(no_costs)?)
    }
}
