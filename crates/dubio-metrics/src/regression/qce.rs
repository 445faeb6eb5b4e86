//! `qce`: how far central intervals are from holding the fraction of targets that they promise.

use crate::binning::Binned;
use crate::card::{Card, Direction, Facts};
use crate::regression::Outcomes;
use crate::score::{Needs, Options, Preparation, Score, Statistic, Undefined};
use crate::weights::Weights;

/// `mean_j |observed(q_j) - q_j|`, levels `q_j = j/9`, `j = 0..9`; `observed(q)` is the fraction of
/// targets with `|2 F(y) - 1| <= q`.
pub struct Qce;

const CARD: Card = Card {
    name: "qce",
    summary: "Mean gap between nominal and observed coverage of central intervals.",
    formula: "mean_j |observed(q_j) - q_j| over 10 levels q_j = j/9; observed(q) = fraction of targets with |2 F(y) - 1| <= q",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Seligmann et al. 2023, sec. 4, from exact distribution functions",
    facts: Facts::NUMBERS,
};

impl Score<Outcomes> for Qce {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Distribution
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        Ok(Box::new(Levels { fractions: LevelFractions::central(outcomes)?, gap: f64::abs }))
    }
}

/// Number of levels, both ends included.
const LEVELS: usize = 10;

/// A target on the end of an interval is inside, however the sum over members rounds `F(y)`.
const EDGE: f64 = 1e-12;

/// The first level that includes each example.
pub(super) struct LevelFractions {
    levels: Vec<f64>,
    binned: Binned,
}

impl LevelFractions {
    /// An example with `values[i]` is included from the first level on for which
    /// `holds(value, level)`.
    pub(super) fn new(levels: Vec<f64>, values: &[f64], holds: fn(f64, f64) -> bool) -> Self {
        let first = |&v: &f64| levels.partition_point(|&level| !holds(v, level)) as u32;
        let binned = Binned::new(values.iter().map(first), levels.len());
        Self { levels, binned }
    }

    pub(super) fn central(outcomes: &Outcomes) -> Result<Self, Undefined> {
        let centrality = outcomes.centrality.as_ref().map_err(Clone::clone)?;
        let levels = (0..LEVELS).map(|j| j as f64 / (LEVELS - 1) as f64).collect();
        Ok(Self::new(levels, centrality, |value, level| value <= level + EDGE))
    }

    /// Sum over levels of `term(observed - level)`.
    pub(super) fn sum<const L: usize>(
        &self,
        weights: &Weights<'_, L>,
        term: fn(f64) -> f64,
    ) -> [f64; L] {
        let taken = self.binned.weight(weights);
        let whole = weights.total();
        std::array::from_fn(|l| {
            let mut inside = 0.0;
            let each = self.levels.iter().zip(&taken).map(|(level, taken)| {
                inside += taken[l];
                term(inside / whole[l] - level)
            });
            each.sum()
        })
    }
}

/// The mean over levels of some function of the gap.
pub(super) struct Levels {
    pub fractions: LevelFractions,
    pub gap: fn(f64) -> f64,
}

impl Statistic for Levels {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        self.fractions.sum(weights, self.gap).map(|sum| sum / LEVELS as f64)
    }
}
