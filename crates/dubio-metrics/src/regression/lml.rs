//! `lml`: log marginal likelihood of all targets together.

use crate::card::{Card, Direction, Facts, UNBOUNDED};
use crate::numeric::transcendental::logsumexp;
use crate::regression::Outcomes;
use crate::score::{Needs, Options, Preparation, Score, Statistic};
use crate::weights::{Weights, wide};

/// `logsumexp_m(sum_i log N_mi) - log M`: one member has to explain every target.
pub struct Lml;

const CARD: Card = Card {
    name: "lml",
    summary: "Log of the members' mean likelihood of all targets jointly.",
    formula: "logsumexp_m(sum_i log N(y_i; mean_mi, std_mi)) - log M",
    range: (-UNBOUNDED, UNBOUNDED),
    direction: Direction::Higher,
    citation: "Seligmann et al. 2023, eq. 15, with the 1/M",
    facts: Facts::NUMBERS,
};

impl Score<Outcomes> for Lml {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Density
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        let densities = outcomes.member_log_density.as_ref().map_err(Clone::clone)?;
        Ok(Box::new(Joint { densities, members: outcomes.members }))
    }
}

struct Joint<'a> {
    densities: &'a [f64],
    members: usize,
}

impl Statistic for Joint<'_> {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let mut sums = vec![[0.0; L]; self.members];
        for (row, weight) in self.densities.chunks(self.members).zip(weights.counts()) {
            let weight = wide(weight);
            for (sum, density) in sums.iter_mut().zip(row) {
                for l in 0..L {
                    // A resample that leaves an impossible target out does not pay for it.
                    sum[l] += if weight[l] == 0.0 { 0.0 } else { weight[l] * density };
                }
            }
        }
        std::array::from_fn(|l| {
            let lane: Vec<f64> = sums.iter().map(|sum| sum[l]).collect();
            logsumexp(&lane) - (self.members as f64).ln()
        })
    }
}
