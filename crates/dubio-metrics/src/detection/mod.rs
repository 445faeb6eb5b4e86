//! Telling two kinds of examples apart by an uncertainty: wrong from right, foreign from own.

mod aupr;
mod auroc;
mod fpr95;
pub mod misclassification;
pub mod ood;
mod steps;

use std::sync::Arc;

use crate::card::Card;
use crate::score::{Preparation, Statistic};
use crate::weights::Weights;

pub(crate) use steps::{Detection, Masses, Step, Visitor};

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

    /// What the measure says of itself.
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

/// A measure as a statistic. All three are worked out in one sweep, for whoever asks first.
struct Measured {
    detection: Arc<Detection>,
    measure: Measure,
}

/// The measures in each lane, in the order of [`Measure::ALL`].
struct Values<const L: usize>([[f64; L]; Measure::ALL.len()]);

impl Statistic for Measured {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let values = weights.shared(&self.detection, || {
            let masses = self.detection.masses(weights);
            let sums = self.detection.sweep(weights, Sums::new(&masses));
            Values([sums.auroc.value(&masses), sums.aupr.value(&masses), sums.fpr95.value(&masses)])
        });
        values.0[self.measure as usize]
    }
}

struct Sums<const L: usize> {
    auroc: auroc::Auroc<L>,
    aupr: aupr::Aupr<L>,
    fpr95: fpr95::Fpr95<L>,
}

impl<const L: usize> Sums<L> {
    fn new(masses: &Masses<L>) -> Self {
        let fpr95 = fpr95::Fpr95::new(masses);
        Self { auroc: auroc::Auroc::new(), aupr: aupr::Aupr::new(), fpr95 }
    }
}

impl<const L: usize> Visitor<L> for Sums<L> {
    #[inline(always)]
    fn visit(&mut self, step: &Step<L>) {
        self.auroc.visit(step);
        self.aupr.visit(step);
        self.fpr95.visit(step);
    }
}
