//! `uncertainty.{total,data,knowledge}`: what the predictive entropy is made of.

use crate::card::{Card, Direction, Facts, UNBOUNDED};
use crate::detection::ONE_MEMBER;
use crate::examples::{Examples, MemberUncertainty};
use crate::score::{Needs, Options, Preparation, Score, Undefined, mean};

/// A part of the predictive entropy, averaged over examples, in nats.
pub enum Uncertainty {
    /// `H(mean p)`.
    Total,
    /// `mean H(p_m)`.
    Data,
    /// `H(mean p) - mean H(p_m)`.
    Knowledge,
}

const TOTAL: Card = Card {
    name: "uncertainty.total",
    summary: "Total uncertainty: mean entropy of the predictive distribution, in nats.",
    formula: "mean_i H(mean_m p_im)",
    range: (0.0, UNBOUNDED),
    direction: Direction::Neither,
    citation: "Depeweg et al. 2018; Vadera et al. 2020, eq. 3",
    facts: Facts::CLASSES,
};

const DATA: Card = Card {
    name: "uncertainty.data",
    summary: "Data (aleatoric) uncertainty: mean entropy of the members' own predictions, in nats.",
    formula: "mean_i mean_m H(p_im)",
    facts: Facts { calibrated: false, ..Facts::CLASSES },
    ..TOTAL
};

const KNOWLEDGE: Card = Card {
    name: "uncertainty.knowledge",
    summary: "Knowledge (epistemic) uncertainty: mutual information between prediction and member, in nats.",
    formula: "mean_i (H(mean_m p_im) - mean_m H(p_im)), never below 0",
    facts: Facts { calibrated: false, ..Facts::CLASSES },
    ..TOTAL
};

impl Score<Examples> for Uncertainty {
    fn card(&self) -> &'static Card {
        match self {
            Self::Total => &TOTAL,
            Self::Data => &DATA,
            Self::Knowledge => &KNOWLEDGE,
        }
    }
    fn needs(&self) -> Needs {
        Needs::Nothing
    }
    fn before_sharing(&self, examples: &Examples, _: &Options) {
        if matches!(self, Self::Total) {
            examples.total();
        }
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        let members = || -> Result<&MemberUncertainty, Undefined> {
            examples.members.as_ref().ok_or_else(|| Undefined::because(ONE_MEMBER))
        };
        match self {
            Self::Total => mean(examples.total()),
            Self::Data => mean(&members()?.data),
            Self::Knowledge => mean(&members()?.knowledge),
        }
    }
}
