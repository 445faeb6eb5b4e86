//! `deep-ensemble`: networks trained apart from one another.

use dubio_nn::engine::Vector;
use serde::{Deserialize, Serialize};

use super::sgd::Sgd;
use super::{Card, Settings};
use crate::rule::Rule;
use crate::wrong::Wrong;

/// Settings of `deep-ensemble`: those of [`Sgd`], for each member.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeepEnsemble(pub Sgd);

impl Settings for DeepEnsemble {
    const CARD: Card = Card {
        name: "deep-ensemble",
        summary: "Independently trained networks, each with its own initialisation and data order.",
        rule: "sgd, `members` times",
        citation: "Lakshminarayanan et al. 2017",
    };
    const MEMBERS: usize = 5;

    fn check(&self) -> Result<(), Wrong> {
        self.0.check()
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        self.0.rule(like)
    }

    fn passes(&self) -> f64 {
        self.0.passes()
    }
}
