//! The same predictions with other labels: what does not depend on labels is worked out once.

use std::sync::Arc;

use crate::distributions::Kind;
use crate::examples::Examples;
use crate::known::Of;
use crate::softmax::{self, brier_from_square};

/// Examples whose labels can be exchanged. Clones share what is known of the predictions.
#[derive(Clone)]
pub(super) struct Relabelled {
    /// The examples with their current labels.
    pub(super) examples: Examples,
    known: Arc<Known>,
}

/// What each example's predictive distribution gives, whatever its label.
struct Known {
    /// `sum_c p_c^2`.
    square: Vec<f64>,
    /// The decision under the cost matrix, if there is one.
    decision: Option<Vec<usize>>,
}

impl Relabelled {
    pub(super) fn new(examples: &Examples) -> Self {
        let square = examples.columns.map_rows(|_, p| softmax::square(p));
        let decision = examples.costs.as_ref().map(|costs| {
            let decisions = examples.columns.map_rows(|_, p| costs.decision(p) as f64);
            decisions.into_iter().map(|decision| decision as usize).collect()
        });
        let examples = examples.clone();
        // Once, before many threads replace the labels.
        examples.columns.take_logarithms();
        let _ = (examples.log_likelihood(), examples.brier());
        Self { examples, known: Arc::new(Known { square, decision }) }
    }

    /// Replaces the labels.
    pub(super) fn put(&mut self, labels: &[u32]) {
        let own = &mut self.examples;
        own.labels.copy_from_slice(labels);
        let n = labels.len();
        let (p, log_p) = (own.columns.rows(Kind::P, 0..n), own.columns.rows(Kind::LogP, 0..n));
        let mut log_likelihood = own.log_likelihood.take().unwrap_or_else(|| vec![0.0; n]);
        let mut brier = own.brier.take().unwrap_or_else(|| vec![0.0; n]);
        for (i, &label) in labels.iter().enumerate() {
            let label = label as usize;
            log_likelihood[i] = log_p.get(i)[label];
            brier[i] = brier_from_square(self.known.square[i], p.get(i)[label]);
        }
        (own.log_likelihood, own.brier) = (log_likelihood.into(), brier.into());
        if let (Some(cost), Some(costs), Some(decisions)) =
            (&mut own.cost, &own.costs, &self.known.decision)
        {
            for (i, cost) in cost.iter_mut().enumerate() {
                *cost = costs.cost(decisions[i], labels[i] as usize);
            }
        }
        own.known = own.known.only(&[Of::Predictions]);
    }
}
