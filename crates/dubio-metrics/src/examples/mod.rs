//! Classified examples: what the scores know of predictions and labels, a row per example.

mod orders;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::columns::{Columns, Scale};
use crate::costs::Costs;
use crate::distributions::Kind;
use crate::known::Known;
use crate::pool::Pooled;
use crate::remember::remember;
use crate::softmax::{self, brier_from_square};
use orders::{rank, ranked};

/// Examples with their labels and everything that a score may ask of a row.
#[derive(Clone, Debug)]
pub struct Examples {
    /// Number of classes.
    pub classes: usize,
    /// True class.
    pub labels: Vec<u32>,
    /// Most probable class.
    pub predicted: Vec<u32>,
    /// Probability of the predicted class, `c`.
    pub confidence: Vec<f64>,
    /// Worked out when they are asked for, see the functions of these names.
    pub(crate) log_likelihood: OnceLock<Vec<f64>>,
    pub(crate) brier: OnceLock<Vec<f64>>,
    total: OnceLock<Vec<f64>>,
    /// Mean entropy of the members, and mutual information; `None` without several members.
    pub members: Option<MemberUncertainty>,
    /// The cost matrix, if there is one.
    pub costs: Option<Arc<Costs>>,
    /// What the decisions cost; `None` without a cost matrix.
    pub cost: Option<Vec<f64>>,
    /// Whether, and by how much, the prediction differs from the reference's; `None` without one.
    pub reference: Option<ReferenceGap>,
    /// Predictive probabilities, class by class.
    pub columns: Columns,
    /// An order that is likely to be that of the confidences.
    likely: Option<Arc<Vec<u32>>>,
    pub(crate) known: Known,
}

/// The parts of the total uncertainty, a number per example.
#[derive(Clone, Debug)]
pub struct MemberUncertainty {
    /// Mean entropy of the members.
    pub data: Vec<f64>,
    /// Entropy of the mean minus mean of the entropies.
    pub knowledge: Vec<f64>,
}

/// How the predictions compare with reference predictions, a number per example.
#[derive(Clone, Debug)]
pub struct ReferenceGap {
    /// 1 where the two predict the same class.
    pub agrees: Vec<f64>,
    /// `1/2 sum_c |p_c - q_c|`.
    pub total_variation: Vec<f64>,
}

impl Examples {
    /// Predictions with their labels, which must be below the number of classes.
    pub fn new(pooled: Pooled, labels: Vec<u32>) -> Self {
        let classes = pooled.classes;
        let members = pooled
            .knowledge()
            .zip(pooled.data)
            .map(|(knowledge, data)| MemberUncertainty { data, knowledge });
        let columns = Columns::plain(pooled.distributions);
        let examples = Self {
            classes,
            labels,
            log_likelihood: OnceLock::new(),
            brier: OnceLock::new(),
            predicted: pooled.predicted,
            confidence: pooled.confidence,
            total: pooled.total,
            members,
            costs: None,
            cost: None,
            reference: None,
            columns,
            likely: None,
            known: Known::default(),
        };
        if examples.columns.in_memory() { examples } else { examples.read_once() }
    }

    /// Works out in one pass what would otherwise need a pass each: for distributions in a file.
    fn read_once(mut self) -> Self {
        let (columns, labels, n) = (&self.columns, &self.labels, self.labels.len());
        let (mut log_likelihood, mut brier) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut ranks = Vec::new();
        let fill = |examples: Range<usize>, out: &mut [(f64, f64, u32)]| {
            let all_p = columns.rows(Kind::P, examples.clone());
            let all_log_p = columns.rows(Kind::LogP, examples.clone());
            for (i, out) in examples.zip(out) {
                let (p, log_p, label) = (all_p.get(i), all_log_p.get(i), labels[i] as usize);
                *out = (log_p[label], softmax::brier(p, label), rank(p, || log_p, label));
            }
        };
        columns.each_part(fill, |rows| {
            log_likelihood.extend(rows.iter().map(|row| row.0));
            brier.extend(rows.iter().map(|row| row.1));
            if self.classes > 5 {
                ranks.extend(rows.iter().map(|row| row.2)); // with fewer, no score asks for them
            }
        });
        self.known = ranked((self.classes > 5).then(|| Arc::new(ranks)));
        self.log_likelihood = log_likelihood.into();
        self.brier = brier.into();
        self
    }

    /// `log p[y]`.
    pub fn log_likelihood(&self) -> &[f64] {
        remember::<Vec<f64>>(&self.log_likelihood, || self.columns.log_p_of(&self.labels))
    }

    /// `sum_c (p_c - [y = c])^2`.
    pub fn brier(&self) -> &[f64] {
        let brier = |i: usize, p: &[f64]| softmax::brier(p, self.labels[i] as usize);
        remember::<Vec<f64>>(&self.brier, || self.columns.map_rows(brier))
    }

    /// Entropy of the predictive distribution, in nats.
    pub fn total(&self) -> &[f64] {
        remember::<Vec<f64>>(&self.total, || self.columns.map_rows(|_, p| softmax::entropy(p)))
    }

    /// With decisions made under this cost matrix, which must have the examples' classes.
    pub fn with_costs(mut self, costs: Costs) -> Self {
        let paid = |i: usize, p: &[f64]| costs.paid(p, self.labels[i] as usize);
        self.cost = Some(self.columns.map_rows(paid));
        self.costs = Some(Arc::new(costs));
        self
    }

    /// Compared with reference predictions of the same examples.
    pub fn with_reference(mut self, reference: &Pooled) -> Self {
        let agrees = self.predicted.iter().zip(&reference.predicted);
        let total_variation = self.columns.map_rows(|i, p| {
            let q = reference.distributions.rows(Kind::P, i..i + 1);
            softmax::total_variation(p, &q)
        });
        self.reference = Some(ReferenceGap {
            agrees: agrees.map(|(a, b)| f64::from(u8::from(a == b))).collect(),
            total_variation,
        });
        self
    }

    /// All examples, or those with these indices, at `T = 1/beta`. The order of the classes does not
    /// change with the temperature, so predictions and ranks are kept and cannot change by rounding.
    /// Nothing is known of members: the temperature belongs to their mean.
    pub fn tempered(&self, rows: Option<&[u32]>, beta: f64) -> Self {
        let chosen =
            |values: &[u32]| rows.map_or_else(|| values.to_vec(), |rows| take(values, rows));
        let (labels, predicted) = (chosen(&self.labels), chosen(&self.predicted));
        let columns = rows.map_or_else(|| self.columns.clone(), |rows| self.columns.subset(rows));
        let (columns, numbers) = columns.at(beta, |i, log_p, p| {
            let label = labels[i] as usize;
            let top = log_p[predicted[i] as usize];
            let row = softmax::temper(beta, log_p, top, p);
            softmax::scale(p, row.one_by_z);
            let log_label = beta * (log_p[label] - top) - row.log_z;
            let numbers = [
                log_label,
                (-row.log_z).exp(),
                (row.log_z - beta * row.mean).max(0.0),
                brier_from_square(row.square, log_label.exp()),
            ];
            (Scale { top, one_by_z: row.one_by_z }, numbers)
        });
        let [log_likelihood, confidence, total, brier] = numbers;
        let (log_likelihood, total, brier) = (log_likelihood.into(), total.into(), brier.into());
        let cost = self
            .costs
            .as_ref()
            .map(|costs| columns.map_rows(|i, p| costs.paid(p, labels[i] as usize)));
        let ranks = self.known_ranks().map(|ranks| Arc::new(chosen(&ranks)));
        Self {
            classes: self.classes,
            likely: self.likely_order(rows),
            known: ranked(ranks),
            labels,
            predicted,
            confidence,
            log_likelihood,
            brier,
            total,
            members: None,
            costs: self.costs.clone(),
            cost,
            reference: None,
            columns,
        }
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Whether the example's predicted class is its label: 1 or 0.
    pub fn correct(&self, example: usize) -> f64 {
        f64::from(u8::from(self.predicted[example] == self.labels[example]))
    }

    /// Number of examples whose true class has probability 0.
    pub fn impossible(&self) -> usize {
        self.log_likelihood().iter().filter(|&&l| l == f64::NEG_INFINITY).count()
    }

    /// The examples with these indices, with their predictive distributions in memory.
    pub(crate) fn gathered(&self, rows: &[u32]) -> Self {
        Self { columns: self.columns.gathered(rows), ..self.subset(rows) }
    }

    /// The examples with these indices.
    pub fn subset(&self, rows: &[u32]) -> Self {
        let floats = |values: &[f64]| take(values, rows);
        let known = |values: &OnceLock<Vec<f64>>| -> OnceLock<Vec<f64>> {
            values.get().map_or_else(OnceLock::new, |values| floats(values).into())
        };
        Self {
            classes: self.classes,
            labels: take(&self.labels, rows),
            predicted: take(&self.predicted, rows),
            confidence: floats(&self.confidence),
            log_likelihood: known(&self.log_likelihood),
            brier: known(&self.brier),
            total: known(&self.total),
            members: self.members.as_ref().map(|m| MemberUncertainty {
                data: floats(&m.data),
                knowledge: floats(&m.knowledge),
            }),
            costs: self.costs.clone(),
            cost: self.cost.as_deref().map(floats),
            reference: self.reference.as_ref().map(|r| ReferenceGap {
                agrees: floats(&r.agrees),
                total_variation: floats(&r.total_variation),
            }),
            columns: self.columns.subset(rows),
            likely: None,
            known: ranked(self.known_ranks().map(|ranks| take(&ranks, rows).into())),
        }
    }
}

fn take<T: Copy + Send + Sync>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.par_iter().map(|&row| values[row as usize]).collect()
}
