//! `conditional-gaussian`: one network that predicts a mean and a standard deviation for every example.

use dubio_nn::engine::Vector;
use serde::{Deserialize, Serialize};

use super::sgd::{Descent, Sgd};
use super::{Card, Settings};
use crate::optimisers::Kind;
use crate::rule::Rule;
use crate::schedule::Schedule;
use crate::wrong::Wrong;

/// Settings of `conditional-gaussian`: those of [`Sgd`], by default with Adam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConditionalGaussian {
    /// The settings of the descent.
    #[serde(flatten)]
    pub sgd: Sgd,
}

impl Default for ConditionalGaussian {
    fn default() -> Self {
        Self { sgd: by_adam() }
    }
}

/// Adam at a constant rate, as Gopal 2021, app. A trains networks for tables.
pub(super) fn by_adam() -> Sgd {
    let descent = Descent { epochs: 200, lr: 1e-3, schedule: Schedule::Constant, momentum: 0.9 };
    Sgd { descent, optimiser: Kind::Adam }
}

impl Settings for ConditionalGaussian {
    const CARD: Card = Card {
        name: "conditional-gaussian",
        summary: "One network that predicts a mean and a standard deviation, trained by maximum likelihood; for regression.",
        rule: "Adam on (y - m(x))^2 / (2 s(x)^2) + log s(x)",
        citation: "Nix and Weigend 1994; Lakshminarayanan et al. 2017, sec. 2.2.1; Gopal 2021, app. A",
    };

    fn check(&self) -> Result<(), Wrong> {
        self.sgd.check()
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        self.sgd.rule(like)
    }

    fn is_for_regression(&self) -> bool {
        true
    }

    fn passes(&self) -> f64 {
        self.sgd.passes()
    }
}
