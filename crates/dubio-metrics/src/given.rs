//! Which scores can be worked out from what was given.

use crate::card::Requires;
use crate::examples::Examples;
use crate::regression::Outcomes;
use crate::score::Score;

/// Examples that may hold more than predictions and truth.
pub trait Given {
    /// Whether they hold what a score requires.
    fn holds(&self, requires: Requires) -> bool;
}

impl Given for Examples {
    fn holds(&self, requires: Requires) -> bool {
        match requires {
            Requires::Nothing => true,
            Requires::Reference => self.reference.is_some(),
            Requires::Costs => self.cost.is_some(),
            Requires::Quantiles => false,
        }
    }
}

impl Given for Outcomes {
    fn holds(&self, requires: Requires) -> bool {
        match requires {
            Requires::Nothing => true,
            Requires::Quantiles => self.quantiles.is_some(),
            Requires::Reference | Requires::Costs => false,
        }
    }
}

/// The scores that have all they require, and those that were asked for all the same, which then say what is
/// missing.
pub fn possible<E: Given>(
    mut scores: Vec<Box<dyn Score<E>>>,
    examples: &E,
    asked_for: impl Fn(&str) -> bool,
) -> Vec<Box<dyn Score<E>>> {
    scores.retain(|score| examples.holds(score.card().facts.requires) || asked_for(&score.name()));
    scores
}
