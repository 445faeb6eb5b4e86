//! Labels drawn from the members, for sixteen replicates at a time.
//!
//! A label is drawn by inverting the distribution function of its member's row with the ensemble's own
//! prediction put first: one uniform number `u` below `q = p[predicted]` is a right prediction, and
//! the rest of the interval belongs to the other classes in their order. So a score that only asks
//! whether predictions are right compares one number per label, and sees the same labels as a score
//! that asks for more.

use std::borrow::Cow;
use std::sync::OnceLock;

use dubio_random::stream::{Generator, Stream};
use dubio_random::uniform::{below, uniform};

use crate::members::{Form, Members, each_row};
use crate::softmax;
use crate::weights::LANES;

/// The replicates of a check and the members that make them.
pub(super) struct Draws<'a> {
    source: &'a dyn Members,
    form: Form,
    predicted: &'a [u32],
    stream: &'a Stream,
    /// Replicates by their member, so that those of a member are drawn together.
    order: Vec<Drawn>,
    /// Each member's probabilities of the predicted classes, where they were asked for and are kept.
    hits: Vec<OnceLock<Vec<f64>>>,
}

/// Maximum number of probabilities of predicted classes that are kept: 256 MiB.
const KEPT: usize = 1 << 25;

/// A replicate and its member.
#[derive(Clone, Copy)]
struct Drawn {
    member: usize,
    replicate: usize,
}

/// The member's row that a label is drawn from.
struct Row<'a> {
    /// Probabilities, up to a factor.
    weights: &'a [f64],
    predicted: usize,
    /// Sum of the weights.
    sum: f64,
    /// Probability of the predicted class.
    q: f64,
}

impl<'a> Draws<'a> {
    pub(super) fn new(
        source: &'a dyn Members,
        form: Form,
        predicted: &'a [u32],
        replicates: usize,
        stream: &'a Stream,
    ) -> Self {
        let mut generator = stream.child("members").generator();
        let members = source.members() as u64;
        let mut order: Vec<Drawn> = (0..replicates)
            .map(|replicate| Drawn { member: below(&mut generator, members) as usize, replicate })
            .collect();
        order.sort_by_key(|drawn| drawn.member);
        let kept = if source.members() * predicted.len() <= KEPT { source.members() } else { 0 };
        let hits = vec![OnceLock::new(); kept];
        Self { source, form, predicted, stream, order, hits }
    }

    /// Number of blocks of [`LANES`] replicates.
    pub(super) fn blocks(&self) -> usize {
        self.order.len().div_ceil(LANES)
    }

    /// Number of replicates in a block: the last one may have fewer than others.
    pub(super) fn lanes(&self, block: usize) -> usize {
        LANES.min(self.order.len() - block * LANES)
    }

    /// Number of examples.
    pub(super) fn examples(&self) -> usize {
        self.source.examples()
    }

    /// Puts the values of each block's replicates into the replicates' own order.
    pub(super) fn in_order(&self, blocks: &[[f64; LANES]]) -> Vec<f64> {
        let mut values = vec![0.0; self.order.len()];
        for (drawn, value) in self.order.iter().zip(blocks.iter().flatten()) {
            values[drawn.replicate] = *value;
        }
        values
    }

    /// Draws the labels of a block's replicates: calls `put(lane, example, label)` for every one.
    pub(super) fn labels(&self, block: usize, mut put: impl FnMut(usize, usize, u32)) {
        self.runs(block, |member, first, generators| {
            self.each_row_of(member, |example, row| {
                for (lane, generator) in generators.iter_mut().enumerate() {
                    put(first + lane, example, row.label(uniform(generator)));
                }
            });
        });
    }

    /// Whether each of the same labels is the predicted class: calls `put(lane, example, hit)`.
    pub(super) fn hits(&self, block: usize, mut put: impl FnMut(usize, usize, bool)) {
        self.runs(block, |member, first, generators| {
            let chances = self.chances(member);
            for (lane, generator) in generators.iter_mut().enumerate() {
                for (example, q) in chances.iter().enumerate() {
                    put(first + lane, example, uniform(generator) < *q);
                }
            }
        });
    }

    /// Calls `draw(member, first lane, a generator for each lane)` for runs of lanes of one member.
    fn runs(&self, block: usize, mut draw: impl FnMut(usize, usize, &mut [Generator])) {
        let lanes = block * LANES..block * LANES + self.lanes(block);
        let mut first = 0;
        for run in self.order[lanes].chunk_by(|a, b| a.member == b.member) {
            let stream = |drawn: &Drawn| self.stream.child("labels").nth(drawn.replicate);
            let mut generators: Vec<Generator> =
                run.iter().map(|drawn| stream(drawn).generator()).collect();
            draw(run[0].member, first, &mut generators);
            first += run.len();
        }
    }

    /// A member's probability of each predicted class.
    fn chances(&self, member: usize) -> Cow<'_, [f64]> {
        let work = || {
            let mut chances = vec![0.0; self.predicted.len()];
            self.each_row_of(member, |example, row| chances[example] = row.q);
            chances
        };
        match self.hits.get(member) {
            Some(kept) => Cow::Borrowed(kept.get_or_init(work)),
            None => Cow::Owned(work()),
        }
    }

    /// Calls `f(example, row)` for every row of a member.
    fn each_row_of(&self, member: usize, mut f: impl FnMut(usize, &Row<'_>)) {
        each_row(self.source, member, |example, weights| {
            let sum = softmax::weights(self.form, weights);
            let predicted = self.predicted[example] as usize;
            let q = weights[predicted] / sum;
            f(example, &Row { weights, predicted, sum, q });
        });
    }
}

impl Row<'_> {
    /// The label drawn with `u`. A class of probability 0 is never drawn, however sums are rounded.
    fn label(&self, u: f64) -> u32 {
        if u < self.q {
            return self.predicted as u32;
        }
        let mut rest = (u - self.q) * self.sum;
        let mut last = self.predicted;
        for (class, &weight) in self.weights.iter().enumerate() {
            if class == self.predicted || weight == 0.0 {
                continue;
            }
            last = class;
            if rest < weight {
                break;
            }
            rest -= weight;
        }
        last as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_interval_is_shared_out_with_the_prediction_first() {
        let row = Row { weights: &[1.0, 0.0, 2.0, 1.0], predicted: 2, sum: 4.0, q: 0.5 };
        let labels: Vec<u32> = [0.0, 0.49, 0.5, 0.74, 0.75, 0.999].map(|u| row.label(u)).to_vec();
        assert_eq!(labels, [2, 2, 0, 0, 3, 3]);
    }

    #[test]
    fn rounding_at_the_end_of_the_interval_draws_no_impossible_class() {
        let row = Row { weights: &[0.1, 0.9, 0.0], predicted: 1, sum: 1.0, q: 0.9 };
        assert_eq!(row.label(1.0_f64.next_down()), 0);
        let sure = Row { weights: &[0.0, 1.0], predicted: 1, sum: 1.0, q: 1.0 - 1e-16 };
        assert_eq!(sure.label(1.0_f64.next_down()), 1);
    }
}
