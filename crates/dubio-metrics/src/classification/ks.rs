//! `ks`: the largest gap between cumulative accuracy and cumulative confidence.

use multiversion::multiversion;

use crate::card::{Card, Direction};
use crate::examples::Examples;
use crate::score::{Count, Options, Preparation, Score, Statistic, total, wide};

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
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        Ok(Box::new(Cumulative(examples)))
    }
}

struct Cumulative<'a>(&'a Examples);

impl Statistic for Cumulative<'_> {
    fn weighted<const L: usize>(&self, weights: &[[Count; L]]) -> [f64; L] {
        largest_gap(self.0, weights)
    }
}

#[multiversion(targets = "simd")]
fn largest_gap<const L: usize>(examples: &Examples, weights: &[[Count; L]]) -> [f64; L] {
    // Walked from the most confident, the sums of the least confident are what is left of all.
    let mut whole = [0.0; L];
    for (i, weight) in weights.iter().enumerate() {
        let weight = wide(weight);
        let gap = examples.correct(i) - examples.confidence[i];
        for l in 0..L {
            whole[l] += weight[l] * gap;
        }
    }
    let mut rest = whole;
    let mut largest = whole.map(f64::abs);
    for run in examples.by_confidence().runs() {
        for &i in run {
            let gap = examples.correct(i as usize) - examples.confidence[i as usize];
            let weight = wide(&weights[i as usize]);
            for l in 0..L {
                rest[l] -= weight[l] * gap;
            }
        }
        for l in 0..L {
            largest[l] = largest[l].max(rest[l].abs());
        }
    }
    let count = total(weights);
    std::array::from_fn(|l| largest[l] / count[l])
}
