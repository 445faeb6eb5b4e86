//! `csghmc`: Hamiltonian dynamics with friction in cycles.

use dubio_nn::engine::Vector;
use serde::{Deserialize, Serialize};

use super::csgld::{Csgld, Cycle};
use super::sghmc::{Flow, friction};
use super::sgld::at_least_cold;
use super::{Card, Settings, positive};
use crate::rule::Rule;
use crate::wrong::Wrong;

/// Settings of `csghmc`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Csghmc {
    /// Its cycles.
    #[serde(flatten)]
    pub cycle: Cycle,
    /// Learning rate at the start of a cycle.
    pub lr: f64,
    /// Fraction of the velocity that a step loses; 1 minus the momentum.
    pub friction: f64,
    /// 1 for the posterior; below 1 for a cold posterior, `p^(1/T)`.
    pub temperature: f64,
}

impl Default for Csghmc {
    fn default() -> Self {
        Self { cycle: Cycle::default(), lr: 0.1, friction: 0.1, temperature: 1.0 }
    }
}

impl Settings for Csghmc {
    const CARD: Card = Card {
        name: "csghmc",
        summary: "Cyclical SGHMC: each learning-rate cycle explores without noise, then samples with it.",
        rule: "sghmc at lr/2 (cos(pi mod(t - 1, c) / c) + 1), noise only in the last epochs of a cycle",
        citation: "Zhang et al. 2020",
    };
    const PRIOR_STD: Option<f64> = Some(1.0);
    const IS_CHAIN: bool = true;

    fn check(&self) -> Result<(), Wrong> {
        positive(&[("lr", self.lr)])?;
        at_least_cold(self.temperature)?;
        friction(self.friction)?;
        self.cycle.check()
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let Self { cycle, lr, friction, temperature } = *self;
        Box::new(Flow::new(Csgld { cycle, lr, temperature }, friction, like))
    }

    fn passes(&self) -> f64 {
        self.cycle.epochs() as f64
    }

    fn samples(&self) -> usize {
        self.cycle.samples
    }
}
