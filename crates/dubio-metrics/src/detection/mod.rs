//! Telling two kinds of examples apart by an uncertainty: wrong from right, foreign from own.

mod aupr;
mod auroc;
mod fpr95;
pub mod misclassification;
pub mod ood;

use std::borrow::Cow;

use crate::card::Card;
use crate::examples::Ranking;
use crate::score::{Count, Preparation, wide};

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

    fn prepare<'a>(self, detection: Detection<'a>) -> Preparation<'a> {
        Ok(match self {
            Self::Auroc => Box::new(auroc::Auroc(detection)),
            Self::Aupr => Box::new(aupr::Aupr(detection)),
            Self::Fpr95 => Box::new(fpr95::Fpr95(detection)),
        })
    }
}

/// Examples ranked by an uncertainty, the most uncertain first, and which of them are positive.
pub(crate) struct Detection<'a> {
    ranking: Cow<'a, Ranking>,
    /// In the order of the ranking.
    positive: Vec<bool>,
}

impl<'a> Detection<'a> {
    /// From which examples are positive, in their own order.
    pub(crate) fn new(ranking: Cow<'a, Ranking>, positive: &[bool]) -> Self {
        let positive = ranking.order.iter().map(|&i| positive[i as usize]).collect();
        Self { ranking, positive }
    }
}

impl Detection<'_> {
    /// Calls `visit` with the weight of positives and of negatives in every run of equal
    /// uncertainty, the most uncertain first.
    #[inline(always)]
    fn sweep<const L: usize>(
        &self,
        weights: &[[Count; L]],
        mut visit: impl FnMut(&[f64; L], &[f64; L]),
    ) {
        let mut start = 0;
        for &end in &self.ranking.ends {
            let mut mass = [[0.0; L]; 2];
            for place in start..end as usize {
                let side = &mut mass[usize::from(self.positive[place])];
                let weight = wide(&weights[place]);
                for l in 0..L {
                    side[l] += weight[l];
                }
            }
            start = end as usize;
            visit(&mass[1], &mass[0]);
        }
    }

    /// Weight of the positives and of the negatives.
    fn masses<const L: usize>(&self, weights: &[[Count; L]]) -> ([f64; L], [f64; L]) {
        let (mut positives, mut negatives) = ([0.0; L], [0.0; L]);
        for (&positive, weight) in self.positive.iter().zip(weights) {
            let side = if positive { &mut positives } else { &mut negatives };
            let weight = wide(weight);
            for l in 0..L {
                side[l] += weight[l];
            }
        }
        (positives, negatives)
    }
}
