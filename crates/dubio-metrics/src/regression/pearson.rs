//! `pearson`: correlation of the predictive mean with the target.

use crate::card::{Card, Direction, Facts};
use crate::regression::Outcomes;
use crate::score::{Needs, Options, Preparation, Score, Statistic, Undefined};
use crate::weights::{Count, Weights, wide};

/// `cov(mean, y) / (sd(mean) sd(y))`.
pub struct Pearson;

const CARD: Card = Card {
    name: "pearson",
    summary: "Correlation of the predictive mean with the target.",
    formula: "cov(mean, y) / (sd(mean) sd(y))",
    range: (-1.0, 1.0),
    direction: Direction::Higher,
    citation: "Pearson 1895; WILDS (Koh et al. 2021)",
    facts: Facts::NUMBERS,
};

impl Score<Outcomes> for Pearson {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn needs(&self) -> Needs {
        Needs::Target
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        let mean = outcomes.mean.as_ref().map_err(Clone::clone)?;
        for (what, values) in [("prediction", mean), ("target", &outcomes.targets)] {
            if values.iter().all(|v| *v == values[0]) {
                return Err(Undefined(format!(
                    "every {what} is the same, so there is no correlation"
                )));
            }
        }
        Ok(Box::new(Correlation { x: mean, y: &outcomes.targets }))
    }
}

struct Correlation<'a> {
    x: &'a [f64],
    y: &'a [f64],
}

impl Statistic for Correlation<'_> {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let whole = weights.total();
        let (x, y) = (weights.sum(self.x), weights.sum(self.y));
        let weights = weights.counts();
        let mut moments = [[0.0; L]; 3];
        for ((a, b), weight) in self.x.iter().zip(self.y).zip(weights) {
            let weight = wide(weight);
            for l in 0..L {
                let (a, b) = (a - x[l] / whole[l], b - y[l] / whole[l]);
                moments[0][l] += weight[l] * a * a;
                moments[1][l] += weight[l] * b * b;
                moments[2][l] += weight[l] * a * b;
            }
        }
        let (flat_x, flat_y) = (constant(self.x, weights), constant(self.y, weights));
        std::array::from_fn(|l| {
            if flat_x[l] || flat_y[l] {
                return f64::NAN; // a resample without spread, whatever rounding makes of it
            }
            let r = moments[2][l] / (moments[0][l].sqrt() * moments[1][l].sqrt());
            r.clamp(-1.0, 1.0)
        })
    }
    fn terms(&self) -> Vec<&[f64]> {
        vec![self.x, self.y]
    }
}

/// Whether all examples that count have the same value, in each lane.
fn constant<const L: usize>(values: &[f64], weights: &[[Count; L]]) -> [bool; L] {
    std::array::from_fn(|l| {
        let counted = values.iter().zip(weights).filter(|(_, weight)| weight[l] > 0);
        let mut counted = counted.map(|(value, _)| value);
        let first = counted.next();
        counted.all(|value| Some(value) == first)
    })
}
