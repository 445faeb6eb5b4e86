//! `crps`: the continuous ranked probability score.

use crate::card::{Card, Direction, Facts, UNBOUNDED};
use crate::numeric::normal;
use crate::regression::Outcomes;
use crate::score::{Options, Preparation, Score, mean};

/// `mean_i int (F_i(x) - [x >= y_i])^2 dx`, in the unit of the target.
pub struct Crps;

const CARD: Card = Card {
    name: "crps",
    summary: "Continuous ranked probability score: the Brier score over all thresholds, in the unit of the target.",
    formula: "mean_i E|X - y_i| - 1/2 E|X - X'|, X and X' independent from the predictive distribution; closed form for Gaussian mixtures, exact for draws",
    range: (0.0, UNBOUNDED),
    direction: Direction::Lower,
    citation: "Gneiting and Raftery 2007; mixtures: Grimit et al. 2006",
    facts: Facts::NUMBERS,
};

impl Score<Outcomes> for Crps {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn prepare<'a>(&self, outcomes: &'a Outcomes, _: &Options) -> Preparation<'a> {
        mean(outcomes.crps.as_ref().map_err(Clone::clone)?)
    }
}

/// `E|N(d, s^2)|`, from `cdf = P(N(d, s^2) > 0)`.
pub(super) fn absolute_moment(d: f64, s: f64, cdf: f64) -> f64 {
    2.0 * s * normal::pdf(d / s) + d * (2.0 * cdf - 1.0)
}

/// `1/2 E|X - X'|` of an equal mixture of Gaussians.
pub(super) fn mixture_spread(means: &[f64], stds: &[f64]) -> f64 {
    let mut between = 0.0;
    for (a, (&mean, &std)) in means.iter().zip(stds).enumerate() {
        between += 0.5 * absolute_moment(0.0, std * std::f64::consts::SQRT_2, 0.5);
        for b in 0..a {
            let (d, s) = (mean - means[b], std.hypot(stds[b]));
            between += absolute_moment(d, s, normal::cdf(d / s));
        }
    }
    between / (means.len() as f64).powi(2)
}

/// `E|X - y|` of the empirical distribution of draws.
pub(super) fn to_target(draws: &[f64], y: f64) -> f64 {
    draws.iter().map(|x| (x - y).abs()).sum::<f64>() / draws.len() as f64
}

/// `1/2 E|X - X'|` of the empirical distribution of sorted draws.
pub(super) fn empirical_spread(draws: &[f64]) -> f64 {
    let count = draws.len() as f64;
    // sum_{i<j} (x_j - x_i): draw k is the greater of a pair k times, the lesser n - 1 - k times.
    let spread: f64 =
        draws.iter().enumerate().map(|(k, x)| (2.0 * k as f64 + 1.0 - count) * x).sum();
    spread / (count * count)
}
