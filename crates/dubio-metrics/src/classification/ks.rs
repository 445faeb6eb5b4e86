//! `ks`: the largest gap between cumulative accuracy and cumulative confidence.

use std::ops::Range;
use std::sync::Arc;

use multiversion::multiversion;

use crate::card::{Card, Direction, Facts};
use crate::confidence::Gaps;
use crate::examples::Examples;
use crate::passes::{AnyPass, Pass};
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
    facts: Facts::CLASSES,
};

impl Score<Examples> for Ks {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn before_sharing(&self, examples: &Examples, _: &Options) {
        Gaps::of(examples);
    }
    fn prepare<'a>(&self, examples: &'a Examples, _: &Options) -> Preparation<'a> {
        Ok(Box::new(Largest(Arc::new(Cumulative(Gaps::of(examples))))))
    }
}

struct Largest(Arc<Cumulative>);

impl Statistic for Largest {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let (sums, whole) = (weights.along(&self.0), weights.total());
        std::array::from_fn(|l| sums.largest[l] / whole[l])
    }
    fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        vec![self.0.clone()]
    }
}

/// The gaps summed up, least confident first.
struct Cumulative(Arc<Gaps>);

struct Sums<const L: usize> {
    sum: [f64; L],
    largest: [f64; L],
}

impl Pass for Cumulative {
    type Sums<const L: usize> = Sums<L>;
    fn order(&self) -> &Arc<Vec<u32>> {
        &self.0.wrong.ranking.order
    }
    fn start<const L: usize>(&self, _: &Weights<'_, L>) -> Sums<L> {
        Sums { sum: [0.0; L], largest: [0.0; L] }
    }
    fn add<const L: usize>(&self, places: Range<usize>, counts: &[[Count; L]], sums: &mut Sums<L>) {
        add(&self.0, places, counts, sums);
    }
}

#[multiversion(targets = "simd")]
fn add<const L: usize>(
    gaps: &Gaps,
    places: Range<usize>,
    counts: &[[Count; L]],
    sums: &mut Sums<L>,
) {
    let Sums { mut sum, mut largest } = *sums;
    let rows = gaps.gap[places.clone()].iter().zip(&gaps.wrong.ranking.closes[places]);
    for ((gap, closes), count) in rows.zip(counts) {
        let weight = wide(count);
        for l in 0..L {
            sum[l] += weight[l] * gap;
        }
        if *closes {
            for l in 0..L {
                largest[l] = largest[l].max(sum[l].abs());
            }
        }
    }
    *sums = Sums { sum, largest };
}
