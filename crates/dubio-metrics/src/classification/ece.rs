//! `ece`: mean gap between confidence and accuracy over bins of confidence.

use std::sync::Arc;

use crate::binning::Edges;
use crate::card::{Card, Direction, Facts, Setting};
use crate::confidence::{Bin, BinSums, Bins, Gaps};
use crate::examples::Examples;
use crate::known::Of;
use crate::passes::AnyPass;
use crate::score::{Needs, Options, Preparation, Score, Statistic};
use crate::weights::Weights;

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
    facts: Facts { settings: &[Setting::Bins, Setting::Edges], ..Facts::CLASSES },
};

impl Score<Examples> for Ece {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn before_sharing(&self, examples: &Examples, _: &Options) {
        Gaps::of(examples); // kept by the examples
    }
    fn prepare<'a>(&self, examples: &'a Examples, options: &Options) -> Preparation<'a> {
        Ok(Box::new(Absolute(ConfidenceGaps::of(examples, options))))
    }
}

struct Absolute(Arc<ConfidenceGaps>);

impl Statistic for Absolute {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let sums = weights.along(&self.0.bins);
        let (bins, whole) = (self.0.filled(&sums), self.0.whole(&sums, weights));
        std::array::from_fn(|l| bins.iter().map(|bin| bin.gap[l].abs()).sum::<f64>() / whole[l])
    }
    fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        self.0.passes()
    }
}

/// `correct - confidence` in bins of confidence: what `ece`, `sece` and `mce` are made of.
#[derive(Debug)]
pub(crate) struct ConfidenceGaps {
    pub bins: Arc<Bins>,
    count: usize,
    edges: Edges,
}

impl ConfidenceGaps {
    /// The gaps of these examples, which remember those for the first options asked for.
    pub(crate) fn of(examples: &Examples, options: &Options) -> Arc<Self> {
        let new = || Self::new(examples, options);
        let known = examples.known.get(Of::Labels, new);
        let same = known.count == options.bins && known.edges == options.edges;
        if same { known } else { Arc::new(new()) }
    }

    fn new(examples: &Examples, options: &Options) -> Self {
        let &Options { bins: count, edges, .. } = options;
        let (cell, cells) = edges.cells(&examples.confidence, count);
        Self { bins: Arc::new(Bins::new(examples, cells, cell)), count, edges }
    }

    pub(crate) fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        vec![self.bins.clone()]
    }

    /// The bins, without what none of them takes.
    pub(crate) fn filled<'a, const L: usize>(&self, sums: &'a BinSums<L>) -> &'a [Bin<L>] {
        &sums.bins[..self.bins.cells()]
    }

    /// What the bins' sums are divided by: all examples, except in the one published convention
    /// that does not count those it drops.
    pub(crate) fn whole<const L: usize>(
        &self,
        sums: &BinSums<L>,
        weights: &Weights<'_, L>,
    ) -> [f64; L] {
        let (all, dropped) = (weights.total(), &sums.bins[self.bins.cells()].weight);
        match self.edges {
            Edges::DropOne => std::array::from_fn(|l| all[l] - f64::from(dropped[l])),
            _ => all,
        }
    }
}
