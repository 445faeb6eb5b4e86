//! Bins of confidence, as stretches of the examples in the order of their confidence.

use std::ops::Range;
use std::sync::Arc;

use multiversion::multiversion;

use crate::binning::{Stretch, partition_point};
use crate::detection::{Detection, Signal, misclassification::wrong_by};
use crate::examples::Examples;
use crate::known::Of;
use crate::passes::Pass;
use crate::weights::{Count, Weights, wide};

/// The examples from least to most confident, and by how much each is more right than confident.
#[derive(Debug)]
pub(crate) struct Gaps {
    pub wrong: Arc<Detection>,
    /// `correct - confidence`, in that order.
    pub gap: Vec<f64>,
}

impl Gaps {
    /// The gaps of these examples, which remember them.
    pub(crate) fn of(examples: &Examples) -> Arc<Self> {
        examples.known.get(Of::Labels, || {
            let Ok(wrong) = wrong_by(Signal::Confidence, examples) else {
                unreachable!("every prediction has a confidence")
            };
            let gap = |i: usize| examples.correct(i) - examples.confidence[i];
            Self { gap: wrong.ranking.collect(gap), wrong }
        })
    }
}

/// Examples in bins of confidence.
#[derive(Debug)]
pub(crate) struct Bins {
    gaps: Arc<Gaps>,
    stretches: Vec<Stretch>,
    cells: usize,
}

/// Weighted sums of one bin.
#[derive(Clone, Copy)]
pub(crate) struct Bin<const L: usize> {
    /// `correct - confidence`.
    pub gap: [f64; L],
    pub weight: [u32; L],
    /// Weight of the wrong predictions.
    pub wrong: [u32; L],
}

impl Bins {
    /// From the bin of each confidence (`cells` itself if no bin takes it). The confidences of a bin
    /// lie between those of its neighbours; those that no bin takes may lie anywhere.
    pub(crate) fn new(examples: &Examples, cells: usize, cell: impl Fn(f64) -> u32) -> Self {
        let gaps = Gaps::of(examples);
        let order = &gaps.wrong.ranking.order;
        let at = |place: usize| cell(examples.confidence[order[place] as usize]);
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut start = 0;
        while start < order.len() {
            let own = at(start);
            let end = if own as usize == cells {
                start + 1
            } else {
                start + partition_point(order.len() - start, |place| at(start + place) == own)
            };
            match stretches.last_mut() {
                Some(last) if last.cell == own => last.end = end as u32,
                _ => stretches.push(Stretch { cell: own, end: end as u32 }),
            }
            start = end;
        }
        Self { gaps, stretches, cells }
    }

    /// Number of bins.
    pub(crate) fn cells(&self) -> usize {
        self.cells
    }
}

/// The sums of the bins so far; the last entry belongs to the examples that no bin takes.
pub(crate) struct BinSums<const L: usize> {
    pub bins: Vec<Bin<L>>,
    stretch: usize,
}

impl Pass for Bins {
    type Sums<const L: usize> = BinSums<L>;
    fn order(&self) -> &Arc<Vec<u32>> {
        &self.gaps.wrong.ranking.order
    }
    fn start<const L: usize>(&self, _: &Weights<'_, L>) -> BinSums<L> {
        let empty = Bin { gap: [0.0; L], weight: [0; L], wrong: [0; L] };
        BinSums { bins: vec![empty; self.cells + 1], stretch: 0 }
    }
    fn add<const L: usize>(
        &self,
        places: Range<usize>,
        counts: &[[Count; L]],
        sums: &mut BinSums<L>,
    ) {
        let mut start = places.start;
        while start < places.end {
            let Stretch { cell, end } = self.stretches[sums.stretch];
            let end = (end as usize).min(places.end);
            let counts = &counts[start - places.start..end - places.start];
            add(&self.gaps, start..end, counts, &mut sums.bins[cell as usize]);
            sums.stretch += usize::from(end == self.stretches[sums.stretch].end as usize);
            start = end;
        }
    }
}

#[multiversion(targets = "simd")]
fn add<const L: usize>(gaps: &Gaps, places: Range<usize>, counts: &[[Count; L]], bin: &mut Bin<L>) {
    let mut sums = *bin; // a copy: the sums stay in registers
    let rows = gaps.gap[places.clone()].iter().zip(&gaps.wrong.positive[places]);
    for ((gap, wrong), count) in rows.zip(counts) {
        let weight = wide(count);
        let mask = u32::from(*wrong).wrapping_neg();
        for l in 0..L {
            sums.gap[l] += weight[l] * gap;
            sums.weight[l] += u32::from(count[l]);
            sums.wrong[l] += u32::from(count[l]) & mask;
        }
    }
    *bin = sums;
}
