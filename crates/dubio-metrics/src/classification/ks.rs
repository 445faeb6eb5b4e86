//! `ks`: the largest gap between cumulative accuracy and cumulative confidence.

use multiversion::multiversion;

use crate::card::{Card, Direction};
use crate::examples::{Examples, Ranking};
use crate::score::{
    Count, Needs, Options, Preparation, Score, Statistic, total, weighted_sum, wide,
};

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
        let ranking = examples.by_confidence();
        let gap = |&i: &u32| examples.correct(i as usize) - examples.confidence[i as usize];
        Ok(Box::new(Cumulative { ranking, gap: ranking.order.iter().map(gap).collect() }))
    }
}

struct Cumulative<'a> {
    ranking: &'a Ranking,
    /// `correct - confidence`, most confident first.
    gap: Vec<f64>,
}

impl Statistic for Cumulative<'_> {
    fn weighted<const L: usize>(&self, weights: &[[Count; L]]) -> [f64; L] {
        largest_gap(self, weights)
    }
    fn order(&self) -> Option<&[u32]> {
        Some(&self.ranking.order)
    }
}

#[multiversion(targets = "simd")]
fn largest_gap<const L: usize>(sums: &Cumulative<'_>, weights: &[[Count; L]]) -> [f64; L] {
    // Walked from the most confident, the sums of the least confident are what is left of all.
    let whole = weighted_sum(&sums.gap, weights);
    let mut rest = whole;
    let mut largest = whole.map(f64::abs);
    let mut start = 0;
    for &end in &sums.ranking.ends {
        for place in start..end as usize {
            let weight = wide(&weights[place]);
            for l in 0..L {
                rest[l] -= weight[l] * sums.gap[place];
            }
        }
        start = end as usize;
        for l in 0..L {
            largest[l] = largest[l].max(rest[l].abs());
        }
    }
    let count = total(weights);
    std::array::from_fn(|l| largest[l] / count[l])
}
