//! `uce`: mean gap between normalised entropy and error over bins of entropy.

use crate::binning::{Binned, edges::right_closed};
use crate::card::{Card, Direction};
use crate::examples::Examples;
use crate::score::{Needs, Options, Preparation, Score, Statistic};
use crate::weights::Weights;

/// `sum_m n_m/n |err_m - u_m|` over bins `(l, u]` of equal width on `u_i = H(p_i) / log C`.
pub struct Uce;

const CARD: Card = Card {
    name: "uce",
    summary: "Mean gap between normalised entropy and error over bins of entropy.",
    formula: "sum_m n_m/n |err_m - mean u| over bins (l, u] of equal width on u_i = H(p_i)/log C",
    range: (0.0, 1.0),
    direction: Direction::Lower,
    citation: "Laves et al. 2019; the UCE paper 2021, eq. 15",
};

impl Score<Examples> for Uce {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Hits
    }
    fn prepare<'a>(&self, examples: &'a Examples, options: &Options) -> Preparation<'a> {
        let (cell, gap) = entropy_gaps(examples, options.bins);
        let binned = Binned::ranked(examples.by_total(), &cell, options.bins, |i| gap[i]);
        Ok(Box::new(Gaps(binned)))
    }
}

/// Each example's bin of normalised entropy, and `wrong - u`.
pub(crate) fn entropy_gaps(examples: &Examples, bins: usize) -> (Vec<u32>, Vec<[f64; 1]>) {
    let largest = (examples.classes as f64).ln();
    let gap = |i: usize| {
        let u = examples.total[i] / largest;
        (right_closed(u, bins) as u32, [1.0 - examples.correct(i) - u])
    };
    (0..examples.len()).map(gap).unzip()
}

struct Gaps(Binned<1>);

impl Statistic for Gaps {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let sums = self.0.sums(weights);
        let whole = weights.total();
        std::array::from_fn(|l| {
            sums.values[0].iter().map(|gap| gap[l].abs()).sum::<f64>() / whole[l]
        })
    }
}
