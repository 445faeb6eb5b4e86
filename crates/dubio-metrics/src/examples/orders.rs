//! Orders of the examples and ranks of their labels, each worked out once.

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;

use super::Examples;
use crate::distributions::Kind;
use crate::known::{Known, Of};
use crate::ranking::{Ranking, entropy_tolerance, information_tolerance};

/// From least to most confident.
struct ByDoubt(Arc<Ranking>);

/// From largest to smallest total uncertainty.
struct ByTotal(Arc<Ranking>);

/// From largest to smallest mutual information.
struct ByKnowledge(Arc<Ranking>);

/// See [`Examples::label_rank`].
struct LabelRank(Arc<Vec<u32>>);

/// See [`Examples::wrong`].
struct Wrong(Arc<Vec<bool>>);

impl Examples {
    /// The examples from least to most confident.
    pub fn by_doubt(&self) -> Arc<Ranking> {
        let rank = || {
            // Minus the confidence gives the order of 1 minus the confidence, without its rounding.
            let doubt: Vec<f64> = self.confidence.par_iter().map(|c| -c).collect();
            Ranking::likely(self.likely.as_ref(), &doubt, |_| 0.0)
        };
        self.known.get(Of::Predictions, || ByDoubt(Arc::new(rank()))).0.clone()
    }

    /// The examples from largest to smallest total uncertainty. For two classes the entropy falls
    /// as the confidence rises, so that is the order from least to most confident.
    pub fn by_total(&self) -> Arc<Ranking> {
        if self.classes == 2 {
            return self.by_doubt();
        }
        let rank = || Ranking::within(self.total(), entropy_tolerance);
        self.known.get(Of::Predictions, || ByTotal(Arc::new(rank()))).0.clone()
    }

    /// The examples from largest to smallest mutual information; `None` without several members.
    pub fn by_knowledge(&self) -> Option<Arc<Ranking>> {
        let members = self.members.as_ref()?;
        let rank = || Ranking::within(&members.knowledge, information_tolerance);
        Some(self.known.get(Of::Predictions, || ByKnowledge(Arc::new(rank()))).0.clone())
    }

    /// Number of classes that come before the true one when sorted by probability; among equal
    /// probabilities the lower index comes first.
    pub fn label_rank(&self) -> Arc<Vec<u32>> {
        let ranks = || {
            self.columns.map_stretches(|examples, out| {
                let p = self.columns.rows(Kind::P, examples.clone());
                for (i, out) in examples.zip(out) {
                    *out = rank(p.get(i), || self.columns.log_p_row(i), self.labels[i] as usize);
                }
            })
        };
        self.known.get(Of::Calibration, || LabelRank(Arc::new(ranks()))).0.clone()
    }

    /// The same, if it is known.
    pub(super) fn known_ranks(&self) -> Option<Arc<Vec<u32>>> {
        self.known.find::<LabelRank>().map(|ranks| ranks.0.clone())
    }

    /// Which predictions are wrong.
    pub(crate) fn wrong(&self) -> Arc<Vec<bool>> {
        let wrong = |(predicted, label): (&u32, &u32)| predicted != label;
        let rows = || self.predicted.iter().zip(&self.labels).map(wrong).collect();
        self.known.get(Of::Labels, || Wrong(Arc::new(rows()))).0.clone()
    }

    /// What the order of the confidences is likely to be at another temperature: the same with two
    /// classes, `None` with more.
    pub(super) fn likely_order(&self, rows: Option<&[u32]>) -> Option<Arc<Vec<u32>>> {
        let known = self.known.find::<ByDoubt>().map(|ranking| ranking.0.order.clone());
        let order = known.or_else(|| self.likely.clone()).filter(|_| self.classes == 2)?;
        let Some(rows) = rows else { return Some(order) };
        let mut index = vec![u32::MAX; self.len()];
        rows.iter().enumerate().for_each(|(i, &row)| index[row as usize] = i as u32);
        let chosen = order.iter().map(|&row| index[row as usize]);
        Some(Arc::new(chosen.filter(|&index| index != u32::MAX).collect()))
    }

    /// Drops what the plain scores have worked out, except what calibrated ones use again.
    pub fn forget(&mut self) {
        self.likely = self.known.find::<ByDoubt>().map(|ranking| ranking.0.order.clone());
        self.known = self.known.only(&[Of::Calibration]);
    }
}

/// What is known when it is nothing but the labels' ranks, or nothing at all.
pub(super) fn ranked(ranks: Option<Arc<Vec<u32>>>) -> Known {
    let known = Known::default();
    if let Some(ranks) = ranks {
        known.get(Of::Calibration, || LabelRank(ranks));
    }
    known
}

/// See [`Examples::label_rank`]. Where the label's probability underflows, logarithms are compared instead.
pub(super) fn rank<'a, L: Into<Cow<'a, [f64]>>>(
    p: &'a [f64],
    log_p: impl FnOnce() -> L,
    label: usize,
) -> u32 {
    let values = if p[label] > 0.0 { p.into() } else { log_p().into() };
    let own = values[label];
    let before = values[..label].iter().filter(|&&v| v >= own).count();
    let after = values[label + 1..].iter().filter(|&&v| v > own).count();
    (before + after) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_put_the_lower_index_first_among_equals() {
        assert_eq!(rank(&[0.3, 0.1, 0.3, 0.3], Vec::new, 2), 1);
        assert_eq!(rank(&[0.3, 0.1, 0.3, 0.3], Vec::new, 1), 3);
        assert_eq!(rank(&[1.0, 0.0, 0.0], || vec![0.0, -800.0, -900.0], 2), 2);
    }
}
