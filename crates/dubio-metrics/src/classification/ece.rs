//! `ece`: mean gap between confidence and accuracy over bins of confidence.

use crate::binning::{Binned, Edges};
use crate::card::{Card, Direction};
use crate::examples::Examples;
use crate::score::{Count, Needs, Options, Preparation, Score, Statistic, total};

/// Mean gap between confidence and accuracy, weighted by bin size: `sum n_b/n |acc_b - conf_b|`.
/// Bins are closed on the right; the first also holds 0.
pub struct Ece;

const CARD: Card = Card {
    name: "ece",
    summary: "Mean gap between confidence and accuracy over bins of confidence.",
    formula: "sum_m n_m/n |acc_m - conf_m| over bins (l, u] of equal width on c_i = max p_i; 0 goes into the first; conf_m is the mean of c_i",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Naeini et al. 2015; Guo et al. 2017; Ashukha et al. 2020, eq. 1 (with c_i for p[y])",
};

impl Score<Examples> for Ece {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn prepare<'a>(&self, examples: &'a Examples, options: &Options) -> Preparation<'a> {
        Ok(Box::new(Absolute(ConfidenceGaps::new(examples, options))))
    }
}

/// `correct - confidence` in bins of confidence: what `ece`, `sece` and `mce` are made of.
pub(crate) struct ConfidenceGaps {
    pub binned: Binned,
    edges: Edges,
}

impl ConfidenceGaps {
    pub(crate) fn new(examples: &Examples, options: &Options) -> Self {
        let (cell, cells) = options.edges.cells(&examples.confidence, options.bins);
        let value =
            (0..examples.len()).map(|i| examples.correct(i) - examples.confidence[i]).collect();
        Self { binned: Binned { cell, cells, value }, edges: options.edges }
    }

    /// What the bins' sums are divided by: all examples, but for the one published convention
    /// that forgets those it drops.
    pub(crate) fn whole<const L: usize>(
        &self,
        weights: &[[Count; L]],
        dropped: &[f64; L],
    ) -> [f64; L] {
        let all = total(weights);
        match self.edges {
            Edges::DropOne => std::array::from_fn(|l| all[l] - dropped[l]),
            _ => all,
        }
    }
}

struct Absolute(ConfidenceGaps);

impl Statistic for Absolute {
    fn weighted<const L: usize>(&self, weights: &[[Count; L]]) -> [f64; L] {
        let cells = self.0.binned.cells;
        let sums = self.0.binned.sums(weights);
        let whole = self.0.whole(weights, &sums.weight[cells]);
        std::array::from_fn(|l| {
            sums.value[..cells].iter().map(|gap| gap[l].abs()).sum::<f64>() / whole[l]
        })
    }
}
