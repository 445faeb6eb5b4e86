//! `debiased_ece`: root mean squared calibration gap, less what sampling alone would give.

use crate::binning::equal_mass::Cuts;
use crate::binning::histogram::Histogram;
use crate::binning::{Binned, CellSums};
use crate::card::{Card, Direction};
use crate::examples::Examples;
use crate::score::{Options, Preparation, Score, Statistic};
use crate::weights::Weights;

/// `sqrt(max(0, sum_m n_m/n ((acc_m - conf_m)^2 - acc_m (1 - acc_m)/(n_m - 1))))`.
pub struct DebiasedEce;

const CARD: Card = Card {
    name: "debiased_ece",
    summary: "Root mean squared gap between confidence and accuracy over bins of equal mass, less what sampling alone gives.",
    formula: "sqrt(max(0, sum_m n_m/n ((acc_m - conf_m)^2 - acc_m (1 - acc_m)/(n_m - 1)))) over equal-mass bins of c_i; nothing is subtracted where n_m = 1",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Kumar, Liang and Ma 2019",
};

impl Score<Examples> for DebiasedEce {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn prepare<'a>(&self, examples: &'a Examples, options: &Options) -> Preparation<'a> {
        let mut histogram = Histogram::default();
        histogram.fill([&examples.confidence[..]].into_iter());
        let (cuts, _) = Cuts::new(&mut histogram, 0, options.bins);
        let cell: Vec<u32> = examples.confidence.iter().map(|&c| cuts.cell(c) as u32).collect();
        let both = |i: usize| [examples.correct(i), examples.confidence[i]];
        let binned = Binned::ranked(examples.by_doubt(), &cell, cuts.cells(), both);
        Ok(Box::new(Bins { binned, cuts }))
    }
}

/// The bins stay where the file's own confidences put them when examples are resampled.
struct Bins {
    /// Whether the prediction is correct, and its confidence.
    binned: Binned<2>,
    cuts: Cuts,
}

impl Statistic for Bins {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let CellSums { values: [mut correct, mut confidence], mut weight } =
            self.binned.sums(weights);
        for sums in [&mut correct, &mut confidence, &mut weight] {
            self.cuts.spread(sums);
        }
        let whole = weights.total();
        std::array::from_fn(|l| {
            let bin = |m: usize| {
                let size = weight[m][l];
                let (acc, conf) = (correct[m][l] / size, confidence[m][l] / size);
                let noise = if size > 1.0 { acc * (1.0 - acc) / (size - 1.0) } else { 0.0 };
                size / whole[l] * ((acc - conf).powi(2) - noise)
            };
            let filled = (0..self.cuts.bins()).filter(|&m| weight[m][l] > 0.0);
            filled.map(bin).sum::<f64>().max(0.0).sqrt()
        })
    }
}
