//! `uce`: mean gap between normalised entropy and error over bins of entropy.

use std::sync::Arc;

use multiversion::multiversion;
use rayon::prelude::*;

use crate::binning::dense::dense;
use crate::binning::edges::right_closed;
use crate::card::{Card, Direction, Facts, Setting};
use crate::examples::Examples;
use crate::known::Of;
use crate::score::{Needs, Options, Preparation, Score, Statistic};
use crate::weights::{Count, Weights, wide};

/// `sum_m n_m/n |err_m - u_m|` over bins `(l, u]` of equal width on `u_i = H(p_i) / log C`.
pub struct Uce;

const CARD: Card = Card {
    name: "uce",
    summary: "Mean gap between normalised entropy and error over bins of entropy.",
    formula: "sum_m n_m/n |err_m - mean u| over bins (l, u] of equal width on u_i = H(p_i)/log C",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Laves et al. 2019; the UCE paper 2021, eq. 15",
    facts: Facts { settings: &[Setting::Bins], ..Facts::CLASSES },
};

impl Score<Examples> for Uce {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn before_sharing(&self, examples: &Examples, _: &Options) {
        examples.total();
    }
    fn prepare<'a>(&self, examples: &'a Examples, options: &Options) -> Preparation<'a> {
        Ok(Box::new(Gaps(EntropyGaps::of(examples, options.bins), examples.total())))
    }
}

struct Gaps<'a>(Arc<EntropyGaps>, &'a [f64]);

impl Statistic for Gaps<'_> {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let (sums, whole) = (self.0.sums(self.1, weights), weights.total());
        let mut bins = vec![[0.0; L]; self.0.bins];
        for (cell, sum) in self.0.cells.iter().zip(&*sums) {
            let bin = &mut bins[(cell % self.0.bins as u64) as usize];
            for l in 0..L {
                bin[l] += sum.gap[l];
            }
        }
        std::array::from_fn(|l| bins.iter().map(|gap| gap[l].abs()).sum::<f64>() / whole[l])
    }
}

/// `wrong - u` in bins of normalised entropy `u`, those of each predicted class apart: what `uce` and
/// `classwise_uce` are made of.
#[derive(Debug)]
pub(crate) struct EntropyGaps {
    /// Number of bins.
    pub bins: usize,
    /// `class * bins + bin` of the cells that hold an example, ascending: there may be more classes
    /// than examples.
    pub cells: Vec<u64>,
    /// Each example's cell.
    cell: Vec<u32>,
    wrong: Arc<Vec<bool>>,
    /// The largest entropy there is.
    largest: f64,
}

/// The sums of one cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntropyBin<const L: usize> {
    pub gap: [f64; L],
    pub weight: [u32; L],
}

impl EntropyGaps {
    /// The gaps of these examples, which remember those for the first number of bins asked for.
    pub(crate) fn of(examples: &Examples, bins: usize) -> Arc<Self> {
        let new = || Self::new(examples, bins);
        let known = examples.known.get(Of::Labels, new);
        if known.bins == bins { known } else { Arc::new(new()) }
    }

    fn new(examples: &Examples, bins: usize) -> Self {
        let largest = (examples.classes as f64).ln();
        let total = examples.total();
        let u = |i: usize| total[i] / largest;
        let place = |i: usize| {
            u64::from(examples.predicted[i]) * bins as u64 + right_closed(u(i), bins) as u64
        };
        let numbers: Vec<u64> = (0..examples.len()).into_par_iter().map(place).collect();
        let (cells, cell) = dense(&numbers);
        Self { bins, cells, cell, wrong: examples.wrong(), largest }
    }

    /// The sums of the cells, from the examples' entropies.
    pub(crate) fn sums<const L: usize>(
        self: &Arc<Self>,
        entropy: &[f64],
        weights: &Weights<'_, L>,
    ) -> Arc<Vec<EntropyBin<L>>> {
        weights.shared(self, || {
            let mut sums = vec![EntropyBin { gap: [0.0; L], weight: [0; L] }; self.cells.len()];
            add(self, entropy, weights.counts(), &mut sums);
            sums
        })
    }
}

#[multiversion(targets = "simd")]
fn add<const L: usize>(
    gaps: &EntropyGaps,
    entropy: &[f64],
    counts: &[[Count; L]],
    sums: &mut [EntropyBin<L>],
) {
    let rows = gaps.cell.iter().zip(&*gaps.wrong).zip(entropy);
    for (((cell, wrong), entropy), count) in rows.zip(counts) {
        let gap = f64::from(u8::from(*wrong)) - entropy / gaps.largest;
        let (bin, weight) = (&mut sums[*cell as usize], wide(count));
        for l in 0..L {
            bin.gap[l] += weight[l] * gap;
            bin.weight[l] += u32::from(count[l]);
        }
    }
}
