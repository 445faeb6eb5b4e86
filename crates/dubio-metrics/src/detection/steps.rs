//! What detection depends on: how many negatives lie between the positives.
//!
//! Areas and rates change only where there is a positive, so the negatives in between are added up
//! as the whole numbers that they are, and a measure takes one step for each positive and not one
//! for each example.

use std::ops::Range;
use std::sync::Arc;

use multiversion::multiversion;

use crate::ranking::Ranking;
use crate::weights::{Count, Weights};

/// Examples ranked by an uncertainty, the most uncertain first, and which of them are positive.
#[derive(Debug)]
pub(crate) struct Detection {
    pub ranking: Arc<Ranking>,
    /// In the order of the ranking.
    pub positive: Vec<bool>,
    /// The runs of equal uncertainty that hold a positive.
    steps: Vec<Range<u32>>,
}

impl Detection {
    /// From which examples are positive, in their own order.
    pub(crate) fn new(ranking: Arc<Ranking>, positive: impl Fn(usize) -> bool) -> Self {
        let positive: Vec<bool> = ranking.order.iter().map(|&i| positive(i as usize)).collect();
        let starts = [0].into_iter().chain(ranking.ends.iter().copied());
        let runs = starts.zip(&ranking.ends).map(|(start, &end)| start..end);
        let holds = |run: &Range<u32>| {
            positive[run.start as usize..run.end as usize].iter().any(|&positive| positive)
        };
        let steps = runs.filter(holds).collect();
        Self { ranking, positive, steps }
    }

    /// Weight of the positives and of the negatives.
    pub(crate) fn masses<const L: usize>(
        self: &Arc<Self>,
        weights: &Weights<'_, L>,
    ) -> Arc<Masses<L>> {
        weights.shared(self, || {
            let whole = weights.total();
            let positives = positives(self, &weights.in_order(&self.ranking));
            Masses { positives, negatives: std::array::from_fn(|l| whole[l] - positives[l]) }
        })
    }

    /// Shows a visitor all steps, the most uncertain first.
    pub(crate) fn sweep<const L: usize, V: Visitor<L>>(
        &self,
        weights: &Weights<'_, L>,
        visitor: V,
    ) -> V {
        sweep(self, &weights.in_order(&self.ranking), visitor)
    }
}

/// Weights of the positives and of the negatives.
pub(crate) struct Masses<const L: usize> {
    pub positives: [f64; L],
    pub negatives: [f64; L],
}

/// The examples from behind one run that holds a positive to the end of the next.
pub(crate) struct Step<const L: usize> {
    /// Weight of the negatives before the run.
    pub before: [u32; L],
    /// Weight of the positives of the run.
    pub positive: [u32; L],
    /// Weight of the negatives of the run, as uncertain as the positives.
    pub negative: [u32; L],
}

/// Whoever makes something of the steps. `visit` is to be inlined, into loops for the vector unit
/// at hand.
pub(crate) trait Visitor<const L: usize> {
    fn visit(&mut self, step: &Step<L>);
}

/// Weight of the positives.
#[multiversion(targets = "simd")]
fn positives<const L: usize>(detection: &Detection, counts: &[[Count; L]]) -> [f64; L] {
    let mut sums = [0_u32; L];
    for run in &detection.steps {
        for place in run.start as usize..run.end as usize {
            let share = u32::from(detection.positive[place]);
            for l in 0..L {
                sums[l] += share * u32::from(counts[place][l]);
            }
        }
    }
    sums.map(f64::from)
}

#[multiversion(targets = "simd")]
fn sweep<const L: usize, V: Visitor<L>>(
    detection: &Detection,
    counts: &[[Count; L]],
    mut visitor: V,
) -> V {
    let mut start = 0;
    for run in &detection.steps {
        let run = run.start as usize..run.end as usize;
        let mut before = [0_u32; L];
        for count in &counts[start..run.start] {
            for l in 0..L {
                before[l] += u32::from(count[l]);
            }
        }
        start = run.end;
        // Nearly every run is one example.
        let mut positive = counts[run.end - 1].map(u32::from);
        let mut negative = [0; L];
        if run.len() > 1 {
            [negative, positive] = sides(&detection.positive[run.clone()], &counts[run]);
        }
        visitor.visit(&Step { before, positive, negative });
    }
    visitor
}

/// Weight of the negatives and of the positives of a run.
#[inline(never)]
fn sides<const L: usize>(positive: &[bool], counts: &[[Count; L]]) -> [[u32; L]; 2] {
    let mut sides = [[0; L]; 2];
    for (&positive, count) in positive.iter().zip(counts) {
        for l in 0..L {
            sides[usize::from(positive)][l] += u32::from(count[l]);
        }
    }
    sides
}
