//! `ood.NAME.{auroc,aupr,fpr95}.{confidence,total,model}`: detecting out-of-distribution examples.

use std::sync::Arc;

use super::{Detection, Measure, ONE_MEMBER, Signal};
use crate::pool::Pooled;
use crate::ranking::{Ranking, entropy_tolerance, information_tolerance};
use crate::score::{Preparation, Undefined};

/// The uncertainties of one file, a number per example, larger for more uncertain.
#[derive(Clone, Debug)]
pub struct Uncertainties {
    /// `-c`, which gives the order of `1 - c` without its rounding.
    pub confidence: Vec<f64>,
    /// `H(p)`.
    pub total: Vec<f64>,
    /// Mutual information; `None` for one member.
    pub model: Option<Vec<f64>>,
}

impl Uncertainties {
    /// The uncertainties of predictive distributions.
    pub fn of(pooled: &Pooled) -> Self {
        Self {
            confidence: pooled.confidence.iter().map(|c| -c).collect(),
            total: pooled.total().to_vec(),
            model: pooled.knowledge(),
        }
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.total.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.total.is_empty()
    }

    fn signal(&self, signal: Signal) -> Option<&[f64]> {
        match signal {
            Signal::Confidence => Some(&self.confidence),
            Signal::Total => Some(&self.total),
            Signal::Model => self.model.as_deref(),
        }
    }
}

/// The examples outside (positives) among those inside, ranked by an uncertainty. Weights are those
/// of the examples inside, then those outside.
pub(crate) fn detect(
    signal: Signal,
    inside: &Uncertainties,
    outside: &Uncertainties,
) -> Result<Arc<Detection>, Undefined> {
    let (Some(own), Some(other)) = (inside.signal(signal), outside.signal(signal)) else {
        return Err(Undefined::because(ONE_MEMBER));
    };
    if own.is_empty() || other.is_empty() {
        return Err(Undefined::because("one of the two sets has no examples"));
    }
    let values: Vec<f64> = own.iter().chain(other).copied().collect();
    let ranking = match signal {
        Signal::Confidence => Ranking::descending(&values),
        Signal::Total => Ranking::within(&values, entropy_tolerance),
        Signal::Model => Ranking::within(&values, information_tolerance),
    };
    let marked = (0..values.len()).map(|i| i >= own.len()).collect();
    Ok(Arc::new(Detection::new(Arc::new(ranking), Arc::new(marked))))
}

/// Prepares a measure of how well `signal` tells `outside` from `inside`.
pub fn prepare(
    measure: Measure,
    signal: Signal,
    inside: &Uncertainties,
    outside: &Uncertainties,
) -> Preparation<'static> {
    measure.prepare(detect(signal, inside, outside)?)
}
