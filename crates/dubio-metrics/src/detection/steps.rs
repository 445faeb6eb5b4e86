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
    /// Which examples are positive, in their own order.
    pub marked: Arc<Vec<bool>>,
    /// The same in the order of the ranking.
    pub positive: Vec<bool>,
    /// The runs of equal uncertainty that hold a positive.
    steps: Vec<Range<u32>>,
}

impl Detection {
    /// From which examples are positive, in their own order.
    pub(crate) fn new(ranking: Arc<Ranking>, marked: Arc<Vec<bool>>) -> Self {
        let positive = ranking.collect(|example| marked[example]);
        let holds = |run: &Range<usize>| positive[run.clone()].iter().any(|&positive| positive);
        let steps = ranking.run_places().filter(holds);
        let steps = steps.map(|run| run.start as u32..run.end as u32).collect();
        Self { ranking, marked, positive, steps }
    }

    /// Weight of the positives and of the negatives.
    pub(crate) fn masses<const L: usize>(&self, weights: &Weights<'_, L>) -> Masses<L> {
        let (positives, whole) = (weights.of_marked(&self.marked), weights.total());
        Masses { positives, negatives: std::array::from_fn(|l| whole[l] - positives[l]) }
    }
}

/// Weights of the positives and of the negatives.
pub(crate) struct Masses<const L: usize> {
    pub positives: [f64; L],
    pub negatives: [f64; L],
}

/// The examples after one run that holds a positive, up to the end of the next such run.
#[derive(Clone, Copy)]
pub(crate) struct Step<const L: usize> {
    /// Weight of the negatives before the run.
    pub before: [u32; L],
    /// Weight of the positives of the run.
    pub positive: [u32; L],
    /// Weight of the negatives of the run, as uncertain as the positives.
    pub negative: [u32; L],
}

impl<const L: usize> Default for Step<L> {
    fn default() -> Self {
        Self { before: [0; L], positive: [0; L], negative: [0; L] }
    }
}

/// Consumes the steps. `visit` must be inlined, into loops that are compiled for the vector unit at hand.
pub(crate) trait Visitor<const L: usize> {
    fn visit(&mut self, step: &Step<L>);
}

/// How far a pass over the steps has come.
#[derive(Default)]
pub(crate) struct Walk<const L: usize> {
    /// The next step.
    next: usize,
    /// What has been counted of it so far.
    step: Step<L>,
}

impl<const L: usize> Walk<L> {
    /// Goes on over these places and shows a visitor the steps that end there.
    pub(crate) fn go_on(
        &mut self,
        detection: &Detection,
        places: Range<usize>,
        counts: &[[Count; L]],
        visitor: &mut impl Visitor<L>,
    ) {
        go_on(self, detection, places, counts, visitor);
    }
}

#[multiversion(targets = "simd")]
fn go_on<const L: usize, V: Visitor<L>>(
    walk: &mut Walk<L>,
    detection: &Detection,
    places: Range<usize>,
    counts: &[[Count; L]],
    visitor: &mut V,
) {
    let mut step = walk.step;
    let mut place = places.start;
    while let Some(run) = detection.steps.get(walk.next) {
        let run = run.start as usize..run.end as usize;
        let end = run.start.clamp(place, places.end);
        for count in &counts[place - places.start..end - places.start] {
            for l in 0..L {
                step.before[l] += u32::from(count[l]);
            }
        }
        place = end;
        if place == places.end {
            break;
        }
        let end = run.end.min(places.end);
        if run.len() == 1 {
            step.positive = counts[place - places.start].map(u32::from); // as nearly every run is
        } else {
            let own = place - places.start..end - places.start;
            add_sides(&detection.positive[place..end], &counts[own], &mut step);
        }
        place = end;
        if place < run.end {
            break;
        }
        visitor.visit(&step);
        step = Step { before: [0; L], positive: [0; L], negative: [0; L] };
        walk.next += 1;
    }
    walk.step = step;
}

/// Adds some examples of a run.
#[inline(never)]
fn add_sides<const L: usize>(positive: &[bool], counts: &[[Count; L]], step: &mut Step<L>) {
    for (&positive, count) in positive.iter().zip(counts) {
        let side = if positive { &mut step.positive } else { &mut step.negative };
        for l in 0..L {
            side[l] += u32::from(count[l]);
        }
    }
}
