//! Telling two kinds of examples apart by an uncertainty: wrong from right, out-of-distribution
//! from in-distribution.

mod aupr;
mod auroc;
mod fpr95;
pub mod misclassification;
pub mod ood;
mod steps;

use std::ops::Range;
use std::sync::Arc;

use crate::card::Card;
use crate::passes::{AnyPass, Pass};
use crate::score::{Preparation, Statistic};
use crate::weights::{Count, Weights};

pub(crate) use steps::{Detection, Masses, Step, Visitor, Walk};

/// The uncertainties that detect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// `1 - c`.
    Confidence,
    /// `H(p)`.
    Total,
    /// The mutual information between prediction and member.
    Model,
}

impl Signal {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Confidence, Self::Total, Self::Model];

    /// Last part of a score's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Confidence => "confidence",
            Self::Total => "total",
            Self::Model => "model",
        }
    }
}

/// Why there is no score from the mutual information.
pub(crate) const ONE_MEMBER: &str = "needs several members";

/// A measure of detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Area under the ROC curve.
    Auroc,
    /// Average precision.
    Aupr,
    /// False positive rate where 95 % of the positives are found.
    Fpr95,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auroc, Self::Aupr, Self::Fpr95];

    /// The measure's card.
    pub fn card(self) -> &'static Card {
        match self {
            Self::Auroc => &auroc::CARD,
            Self::Aupr => &aupr::CARD,
            Self::Fpr95 => &fpr95::CARD,
        }
    }

    /// `kind.measure.signal`, for example `misclassification.auroc.total`.
    pub fn name(self, kind: &str, signal: Signal) -> String {
        format!("{kind}.{}.{}", self.card().name, signal.name())
    }

    pub(crate) fn prepare<'a>(self, detection: Arc<Detection>) -> Preparation<'a> {
        Ok(Box::new(Measured { detection, measure: self }))
    }
}

/// A measure as a statistic. All three are worked out in one pass, when the first of them is asked for.
struct Measured {
    detection: Arc<Detection>,
    measure: Measure,
}

impl Statistic for Measured {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let (sums, masses) = (weights.along(&self.detection), self.detection.masses(weights));
        match self.measure {
            Measure::Auroc => sums.measures.auroc.value(&masses),
            Measure::Aupr => sums.measures.aupr.value(&masses),
            Measure::Fpr95 => sums.measures.fpr95.value(&masses),
        }
    }
    fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        vec![self.detection.clone()]
    }
}

impl Pass for Detection {
    type Sums<const L: usize> = Sums<L>;
    fn order(&self) -> &Arc<Vec<u32>> {
        &self.ranking.order
    }
    fn start<const L: usize>(&self, weights: &Weights<'_, L>) -> Sums<L> {
        let (auroc, aupr) = (auroc::Auroc::new(), aupr::Aupr::new());
        let fpr95 = fpr95::Fpr95::new(&self.masses(weights));
        Sums { walk: Walk::default(), measures: Measures { auroc, aupr, fpr95 } }
    }
    fn add<const L: usize>(&self, places: Range<usize>, counts: &[[Count; L]], sums: &mut Sums<L>) {
        sums.walk.go_on(self, places, counts, &mut sums.measures);
    }
}

/// What the measures are made of, in each lane.
pub(crate) struct Sums<const L: usize> {
    walk: Walk<L>,
    measures: Measures<L>,
}

pub(crate) struct Measures<const L: usize> {
    auroc: auroc::Auroc<L>,
    aupr: aupr::Aupr<L>,
    fpr95: fpr95::Fpr95<L>,
}

impl<const L: usize> Visitor<L> for Measures<L> {
    #[inline(always)]
    fn visit(&mut self, step: &Step<L>) {
        self.auroc.visit(step);
        self.aupr.visit(step);
        self.fpr95.visit(step);
    }
}
