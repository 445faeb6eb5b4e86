//! `ks`: the largest gap between cumulative accuracy and cumulative confidence.

use crate::card::{Card, Direction};
use crate::examples::Examples;
use crate::score::{Options, Preparation, Score, Statistic, total};

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
    fn weighted<const L: usize>(&self, weights: &[[f64; L]]) -> [f64; L] {
        let mut sum = [0.0; L];
        let mut largest = [0.0_f64; L];
        let runs: Vec<&[u32]> = self.0.by_confidence().runs().collect();
        for run in runs.into_iter().rev() {
            for &i in run {
                let i = i as usize;
                let gap = self.0.correct(i) - self.0.confidence[i];
                for l in 0..L {
                    sum[l] += weights[i][l] * gap;
                }
            }
            for l in 0..L {
                largest[l] = largest[l].max(sum[l].abs());
            }
        }
        let whole = total(weights);
        std::array::from_fn(|l| largest[l] / whole[l])
    }
}
