//! `decision_cost`: total cost of the decisions with the least expected cost.

use crate::card::{Card, Direction, Facts, Requires, UNBOUNDED};
use crate::examples::Examples;
use crate::score::{Options, Preparation, Score, Sum, Undefined};

/// `sum_i K[h_i, y_i]`, `h_i = argmin_h sum_c p_ic K[h, c]`.
pub struct DecisionCost;

const CARD: Card = Card {
    name: "decision_cost",
    summary: "Total cost of the decisions with the least expected cost.",
    formula: "sum_i K[h_i, y_i], h_i = argmin_h sum_c p_ic K[h, c]",
    range: (-UNBOUNDED, UNBOUNDED),
    direction: Direction::Lower,
    citation: "Vadera et al. 2020, app. A",
    facts: Facts { requires: Requires::Costs, ..Facts::CLASSES },
};

impl Score<Examples> for DecisionCost {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        let cost = examples.cost.as_ref().ok_or_else(no_costs)?;
        Ok(Box::new(Sum::new(cost)))
    }
}

/// Why there is no cost.
pub(super) fn no_costs() -> Undefined {
    Undefined::because("needs a cost matrix (--costs FILE)")
}
