//! `quantile_calibration`: how far predicted quantiles are from their levels.

use super::qce::LevelFractions;
use crate::card::{Card, Direction, Facts, UNBOUNDED};
use crate::regression::Outcomes;
use crate::score::{Needs, Options, Preparation, Score, Statistic};
use crate::weights::{Weights, wide};

/// `sum_j (p_j - fraction of F(y) < p_j)^2` over `p_j = j/101`, `j = 1..100`; over the file's own
/// levels when it holds quantiles.
pub struct QuantileCalibration;

const CARD: Card = Card {
    name: "quantile_calibration",
    summary: "Squared gap between quantile levels and the fraction of targets below, summed over levels.",
    formula: "sum_j (p_j - fraction of F(y) < p_j)^2, p_j = j/101 for j = 1..100; for a file of quantiles, its own levels and the fraction of y < q_j",
    range: (0.0, UNBOUNDED),
    direction: Direction::Lower,
    citation: "Kuleshov, Fenner and Ermon 2018, eq. 9",
    facts: Facts::NUMBERS,
};

impl Score<Outcomes> for QuantileCalibration {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Distribution
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        if let Some((levels, quantiles)) = &outcomes.quantiles {
            return Ok(Box::new(Given { levels, quantiles, targets: &outcomes.targets }));
        }
        let cdf = outcomes.cdf.as_ref().map_err(Clone::clone)?;
        let levels = (1..=100).map(|j| f64::from(j) / 101.0).collect();
        Ok(Box::new(Exact(LevelFractions::new(levels, cdf, |value, level| value < level))))
    }
}

struct Exact(LevelFractions);

impl Statistic for Exact {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        self.0.sum(weights, |gap| gap * gap)
    }
}

/// Predicted quantiles may cross, so each level is counted by itself.
struct Given<'a> {
    levels: &'a [f64],
    quantiles: &'a [f64],
    targets: &'a [f64],
}

impl Statistic for Given<'_> {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let whole = weights.total();
        let mut sum = [0.0; L];
        for (level, row) in self.levels.iter().zip(self.quantiles.chunks(self.targets.len())) {
            let mut below = [0.0; L];
            for ((q, y), weight) in row.iter().zip(self.targets).zip(weights.counts()) {
                let weight = wide(weight);
                for l in 0..L {
                    below[l] += if y < q { weight[l] } else { 0.0 };
                }
            }
            for l in 0..L {
                sum[l] += (level - below[l] / whole[l]).powi(2);
            }
        }
        sum
    }
}
