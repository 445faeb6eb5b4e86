//! `classwise_uce`: `uce` among the examples of each predicted class, averaged.

use std::sync::Arc;

use super::uce::EntropyGaps;
use crate::card::{Card, Direction, Facts, Setting};
use crate::examples::Examples;
use crate::score::{Needs, Options, Preparation, Score, Statistic};
use crate::weights::Weights;

/// Mean over predicted classes of `uce` among the examples predicted so.
pub struct ClasswiseUce;

const CARD: Card = Card {
    name: "classwise_uce",
    summary: "The uncertainty calibration error among the examples of each predicted class, averaged.",
    formula: "mean over classes c that are predicted at all of uce over {i: yhat_i = c}",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "the UCE paper 2021, sec. 7.3",
    facts: Facts { settings: &[Setting::Bins], ..Facts::CLASSES },
};

impl Score<Examples> for ClasswiseUce {
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
        Ok(Box::new(PerClass(EntropyGaps::of(examples, options.bins), examples.total())))
    }
}

struct PerClass<'a>(Arc<EntropyGaps>, &'a [f64]);

impl Statistic for PerClass<'_> {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let (sums, bins) = (self.0.sums(self.1, weights), self.0.bins as u64);
        let (mut total, mut classes) = ([0.0; L], [0.0; L]);
        let mut rest = &sums[..];
        for class in self.0.cells.chunk_by(|a, b| a / bins == b / bins) {
            let (own, others) = rest.split_at(class.len());
            rest = others;
            for l in 0..L {
                let size: u32 = own.iter().map(|bin| bin.weight[l]).sum();
                let gap: f64 = own.iter().map(|bin| bin.gap[l].abs()).sum();
                if size > 0 {
                    total[l] += gap / f64::from(size);
                    classes[l] += 1.0;
                }
            }
        }
        std::array::from_fn(|l| total[l] / classes[l])
    }
}
