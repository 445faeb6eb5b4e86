//! `ks`: the largest gap between cumulative accuracy and cumulative confidence.

use std::sync::Arc;

use multiversion::multiversion;

use crate::card::{Card, Direction};
use crate::examples::Examples;
use crate::ranking::Ranking;
use crate::score::{Needs, Options, Preparation, Score, Statistic};
use crate::weights::{Count, Weights, wide};

/// `max_k |sum_{i <= k} (correct_i - c_i)| / n`, sorted by confidence.
pub struct Ks;

const CARD: Card = Card {
    name: "ks",
    summary: "Largest gap between the cumulative sums of accuracy and confidence; needs no bins.",
    formula: "max_k |sum_{i <= k} (correct_i - c_i)| / n, least confident first; a run of equal confidences counts as one step",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Gupta et al. 2021, Calibration of neural networks using splines",
};

impl Score<Examples> for Ks {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        let ranking = examples.by_doubt().clone();
        let gap = |&i: &u32| examples.correct(i as usize) - examples.confidence[i as usize];
        let gap = ranking.order.iter().map(gap).collect();
        Ok(Box::new(Cumulative { ranking, gap }))
    }
}

struct Cumulative {
    ranking: Arc<Ranking>,
    /// `correct - confidence`, least confident first.
    gap: Vec<f64>,
}

impl Statistic for Cumulative {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let largest = largest_gap(self, &weights.in_order(&self.ranking));
        let whole = weights.total();
        std::array::from_fn(|l| largest[l] / whole[l])
    }
}

#[multiversion(targets = "simd")]
fn largest_gap<const L: usize>(sums: &Cumulative, counts: &[[Count; L]]) -> [f64; L] {
    let mut sum = [0.0_f64; L];
    let mut largest = [0.0_f64; L];
    let mut start = 0;
    for &end in &sums.ranking.ends {
        for place in start..end as usize {
            let weight = wide(&counts[place]);
            for l in 0..L {
                sum[l] += weight[l] * sums.gap[place];
            }
        }
        start = end as usize;
        for l in 0..L {
            largest[l] = largest[l].max(sum[l].abs());
        }
    }
    largest
}
