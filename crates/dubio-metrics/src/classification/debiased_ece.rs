//! `debiased_ece`: root mean squared calibration gap, less what sampling alone would give.

use std::sync::Arc;

use crate::binning::equal_mass::Cuts;
use crate::card::{Card, Direction, Facts, Setting};
use crate::confidence::{Bin, Bins, Gaps};
use crate::examples::Examples;
use crate::passes::AnyPass;
use crate::score::{Options, Preparation, Score, Statistic};
use crate::weights::Weights;

/// `sqrt(max(0, sum_m n_m/n ((acc_m - conf_m)^2 - acc_m (1 - acc_m)/(n_m - 1))))`.
pub struct DebiasedEce;

const CARD: Card = Card {
    name: "debiased_ece",
    summary: "Root mean squared gap between confidence and accuracy over bins of equal mass, corrected for sampling noise.",
    formula: "sqrt(max(0, sum_m n_m/n ((acc_m - conf_m)^2 - acc_m (1 - acc_m)/(n_m - 1)))) over equal-mass bins of c_i; nothing is subtracted where n_m = 1",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Kumar, Liang and Ma 2019",
    facts: Facts { settings: &[Setting::Bins], ..Facts::CLASSES },
};

impl Score<Examples> for DebiasedEce {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn before_sharing(&self, examples: &Examples, _: &Options) {
        Gaps::of(examples);
    }
    fn prepare<'a>(&self, examples: &'a Examples, options: &Options) -> Preparation<'a> {
        let order = &examples.by_doubt().order;
        let cuts = Cuts::of_ascending(order.len(), options.bins, |place| {
            examples.confidence[order[place] as usize]
        });
        let bins = Bins::new(examples, cuts.cells(), |confidence| cuts.cell(confidence) as u32);
        Ok(Box::new(Debiased { bins: Arc::new(bins), cuts }))
    }
}

/// The bins stay where the file's own confidences put them when examples are resampled.
struct Debiased {
    bins: Arc<Bins>,
    cuts: Cuts,
}

impl Statistic for Debiased {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let sums = weights.along(&self.bins);
        let spread = |of: fn(&Bin<L>) -> [f64; L]| {
            let mut sums: Vec<[f64; L]> = sums.bins.iter().map(of).collect();
            self.cuts.spread(&mut sums);
            sums
        };
        let (gap, wrong) = (spread(|bin| bin.gap), spread(|bin| bin.wrong.map(f64::from)));
        let (weight, whole) = (spread(|bin| bin.weight.map(f64::from)), weights.total());
        std::array::from_fn(|l| {
            let bin = |m: usize| {
                let size = weight[m][l];
                let (gap, acc) = (gap[m][l] / size, (size - wrong[m][l]) / size);
                let noise = if size > 1.0 { acc * (1.0 - acc) / (size - 1.0) } else { 0.0 };
                size / whole[l] * (gap.powi(2) - noise)
            };
            let filled = (0..self.cuts.bins()).filter(|&m| weight[m][l] > 0.0);
            filled.map(bin).sum::<f64>().max(0.0).sqrt()
        })
    }
    fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        vec![self.bins.clone()]
    }
}
