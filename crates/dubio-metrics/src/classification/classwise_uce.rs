//! `classwise_uce`: `uce` among the examples of each predicted class, averaged.

use super::uce::entropy_gaps;
use crate::binning::Binned;
use crate::card::{Card, Direction};
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
};

impl Score<Examples> for ClasswiseUce {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn prepare<'a>(&self, examples: &'a Examples, options: &Options) -> Preparation<'a> {
        let bins = options.bins;
        let (mut cell, value) = entropy_gaps(examples, bins);
        for (cell, &class) in cell.iter_mut().zip(&examples.predicted) {
            *cell += class * bins as u32;
        }
        let cells = examples.classes * bins;
        Ok(Box::new(PerClass { binned: Binned::new(&cell, cells, value), bins }))
    }
}

struct PerClass {
    binned: Binned<1>,
    bins: usize,
}

impl Statistic for PerClass {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let sums = self.binned.sums(weights);
        let cells = self.binned.cells;
        std::array::from_fn(|l| {
            let classes =
                sums.values[0][..cells].chunks(self.bins).zip(sums.weight.chunks(self.bins));
            let (sum, count) = classes.fold((0.0, 0.0), |(sum, count), (gaps, weights)| {
                let size: f64 = weights.iter().map(|w| w[l]).sum();
                let gap: f64 = gaps.iter().map(|g| g[l].abs()).sum();
                if size > 0.0 { (sum + gap / size, count + 1.0) } else { (sum, count) }
            });
            sum / count
        })
    }
}
