//! A predictive distribution, a mixture of Gaussians or sorted draws, evaluated at one target.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use multiversion::multiversion;

use super::parts::Parts;
use crate::numeric::lanes::zip_sum;
use crate::numeric::normal;
use crate::numeric::transcendental::{erfc, exp, logsumexp};

/// Number of members from which on it is faster to work on vectors of them than on one after the other.
const MANY: usize = 8;

/// What one target gives.
#[derive(Clone, Copy, Default)]
pub(super) struct Row {
    pub(super) log_density: f64,
    pub(super) cdf: f64,
    pub(super) centrality: f64,
    pub(super) crps: f64,
}

/// What one example contributes: its target's part, and what does not depend on the target.
pub(super) struct Whole {
    pub mean: f64,
    pub at: Row,
    pub interval: (f64, f64),
}

/// What an example contributes under a mixture of Gaussians, and the log densities of its members: NaN and none where they
/// are not asked for. `tail` is the standard normal quantile at the upper end of the interval.
pub(super) fn gaussian_row(
    means: &[f64],
    stds: &[f64],
    y: f64,
    (level, tail): (f64, f64),
    parts: Parts,
) -> (Whole, Vec<f64>) {
    let members = means.len() as f64;
    let pairs = || means.iter().zip(stds);
    let cdf_at = |x: f64| pairs().map(|(m, s)| normal::cdf((x - m) / s)).sum::<f64>() / members;
    let pdf_at = |x: f64| pairs().map(|(m, s)| normal::pdf((x - m) / s) / s).sum::<f64>() / members;
    // A mixture's quantile lies between the least and the greatest of its members' quantiles.
    let quantile = |p: f64, z: f64| {
        let ends = pairs().map(|(m, s)| m + z * s);
        let (lo, hi) =
            ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)));
        let scale = stds.iter().copied().fold(f64::INFINITY, f64::min);
        if lo == hi {
            lo
        } else {
            normal::increasing_root(lo, hi, scale, |x| (cdf_at(x) - p, pdf_at(x)))
        }
    };
    let mut densities = Vec::new();
    let mut at = Row::default();
    if parts.density {
        densities.resize(means.len(), 0.0);
        let log_stds: Vec<f64> = stds.iter().map(|std| std.ln()).collect();
        at.log_density = mixture_log_density(means, stds, &log_stds, y, &mut densities);
    }
    if parts.distribution || parts.crps {
        let spread = parts.crps.then(|| mixture_spread(means, stds));
        at = mixture_row(means, stds, y, spread, at.log_density);
    }
    let interval = match parts.interval {
        true => (quantile(0.5 - 0.5 * level, -tail), quantile(0.5 + 0.5 * level, tail)),
        false => (f64::NAN, f64::NAN),
    };
    (Whole { mean: means.iter().sum::<f64>() / members, at, interval }, densities)
}

/// What an example contributes under sorted draws.
pub(super) fn empirical_row(draws: &[f64], y: f64, level: f64) -> Whole {
    let count = draws.len();
    // Inverse of the empirical distribution function: the least draw with F(x) >= p.
    let quantile = |p: f64| {
        let place = (p * count as f64 - 1e-9).ceil().max(1.0) as usize;
        draws[place.min(count) - 1]
    };
    Whole {
        mean: draws.iter().sum::<f64>() / count as f64,
        at: sample_row(draws, y, Some(empirical_spread(draws))),
        interval: (quantile(0.5 - 0.5 * level), quantile(0.5 + 0.5 * level)),
    }
}

/// The log density of a mixture at `y`, and those of its members.
pub(super) fn mixture_log_density(
    means: &[f64],
    stds: &[f64],
    log_stds: &[f64],
    y: f64,
    densities: &mut [f64],
) -> f64 {
    let members = densities.iter_mut().zip(means).zip(stds.iter().zip(log_stds));
    for ((density, &mean), (&std, &log_std)) in members {
        *density = normal::log_density(y, mean, std, log_std);
    }
    let sum = if means.len() < MANY { logsumexp(densities) } else { logsumexp_of_many(densities) };
    sum - (means.len() as f64).ln()
}

/// [`logsumexp`] up to rounding.
fn logsumexp_of_many(x: &[f64]) -> f64 {
    #[multiversion(targets = "simd")]
    fn sum(x: &[f64], max: f64) -> f64 {
        zip_sum(x, x, |x, _| [exp(x - max)])[0]
    }
    let max = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY { max } else { max + sum(x, max).ln() }
}

/// The distribution function of a mixture at `y`, and its CRPS where the spread is known.
pub(super) fn mixture_row(
    means: &[f64],
    stds: &[f64],
    y: f64,
    spread: Option<f64>,
    log_density: f64,
) -> Row {
    let count = means.len() as f64;
    let (mut cdf, mut moment) = (0.0, 0.0);
    if means.len() < MANY {
        for (&mean, &std) in means.iter().zip(stds) {
            let below = normal::cdf((y - mean) / std);
            cdf += below;
            if spread.is_some() {
                moment += absolute_moment(y - mean, std, below);
            }
        }
    } else if spread.is_some() {
        [cdf, moment] = moments_of_many(means, stds, y);
    } else {
        cdf = below_of_many(means, stds, y);
    }
    let cdf = cdf / count;
    let crps = spread.map_or(f64::NAN, |spread| moment / count - spread);
    Row { log_density, cdf, centrality: (2.0 * cdf - 1.0).abs(), crps }
}

/// The sum of the members' distribution functions at `y`.
#[multiversion(targets = "simd")]
fn below_of_many(means: &[f64], stds: &[f64], y: f64) -> f64 {
    let below = |mean: f64, std: f64| 0.5 * erfc((mean - y) / std * FRAC_1_SQRT_2);
    zip_sum(means, stds, |mean, std| [below(mean, std)])[0]
}

/// The same, and the sum of `E|X - y|`.
#[multiversion(targets = "simd")]
fn moments_of_many(means: &[f64], stds: &[f64], y: f64) -> [f64; 2] {
    let one_by_root = 1.0 / (2.0 * PI).sqrt();
    zip_sum(means, stds, |mean, std| {
        let (d, z) = (y - mean, (y - mean) / std);
        let below = 0.5 * erfc(-z * FRAC_1_SQRT_2);
        [below, 2.0 * std * (exp(-0.5 * z * z) * one_by_root) + d * (2.0 * below - 1.0)]
    })
}

/// The same of sorted draws, which have no density.
pub(super) fn sample_row(draws: &[f64], y: f64, spread: Option<f64>) -> Row {
    let count = draws.len();
    let below = draws.partition_point(|&x| x <= y);
    Row {
        log_density: f64::NAN,
        cdf: below as f64 / count as f64,
        centrality: (2 * below).abs_diff(count) as f64 / count as f64,
        crps: spread.map_or(f64::NAN, |spread| (to_target(draws, y) - spread).max(0.0)),
    }
}

/// `E|N(d, s^2)|`, from `cdf = P(N(d, s^2) > 0)`.
fn absolute_moment(d: f64, s: f64, cdf: f64) -> f64 {
    2.0 * s * normal::pdf(d / s) + d * (2.0 * cdf - 1.0)
}

/// `1/2 E|X - X'|` of an equal mixture of Gaussians, in closed form or, where that takes fewer steps, as an integral whose
/// error is below rounding.
pub(super) fn mixture_spread(means: &[f64], stds: &[f64]) -> f64 {
    let nodes = Nodes::of(means, stds);
    if nodes.count < 0.5 * means.len() as f64 {
        nodes.spread(means, stds)
    } else {
        spread_of_pairs(means, stds)
    }
}

/// The same in closed form, from every pair of members.
fn spread_of_pairs(means: &[f64], stds: &[f64]) -> f64 {
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

/// Where the trapezoid rule evaluates `F (1 - F)`, whose integral is `1/2 E|X - X'|`. It decays like a Gaussian, as
/// does its Fourier transform, which is below `exp(-(s w / 2)^2)` with `s` the least standard deviation: at steps of
/// `s / 2` the rule is off by `exp(-(2 pi)^2)`, and beyond nine standard deviations nothing is left.
struct Nodes {
    first: f64,
    step: f64,
    count: f64,
}

impl Nodes {
    fn of(means: &[f64], stds: &[f64]) -> Self {
        const REACH: f64 = 9.0;
        let (mut first, mut last, mut least) = (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY);
        for (&mean, &std) in means.iter().zip(stds) {
            first = first.min(mean - REACH * std);
            last = last.max(mean + REACH * std);
            least = least.min(std);
        }
        let step = 0.5 * least;
        Self { first, step, count: ((last - first) / step).ceil() }
    }

    fn spread(&self, means: &[f64], stds: &[f64]) -> f64 {
        let members = means.len() as f64;
        let node = |index: usize| {
            let x = self.first + index as f64 * self.step;
            let each = means.iter().zip(stds).map(|(mean, std)| normal::cdf((x - mean) / std));
            let below: f64 = each.sum();
            below * (members - below)
        };
        let sum: f64 = (0..=self.count as usize).map(node).sum();
        self.step * sum / (members * members)
    }
}

/// `E|X - y|` of the empirical distribution of draws.
fn to_target(draws: &[f64], y: f64) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// One member after the other, by functions of libraries, against vectors of members.
    #[test]
    fn many_members_together_give_what_they_give_one_by_one() {
        for members in [8_usize, 9, 30, 200] {
            let at = |m: usize| (m as f64 * 0.618_034).fract();
            let means: Vec<f64> = (0..members).map(|m| 4.0 * at(m)).collect();
            let stds: Vec<f64> = (0..members).map(|m| 0.1 + at(3 * m + 1)).collect();
            let pairs = || means.iter().zip(&stds);
            for y in [-60.0, -3.0, 0.0, 1.7, 4.0, 9.0, 70.0] {
                let below: f64 = pairs().map(|(m, s)| normal::cdf((y - m) / s)).sum();
                let moment =
                    |(m, s): (&f64, &f64)| absolute_moment(y - m, *s, normal::cdf((y - m) / s));
                let moment: f64 = pairs().map(moment).sum();
                let [own_below, own_moment] = moments_of_many(&means, &stds, y);
                assert_eq!(own_below, below_of_many(&means, &stds, y));
                assert!((own_below - below).abs() <= 1e-13 * below, "{y}: {own_below} {below}");
                assert!(
                    (own_moment - moment).abs() <= 1e-13 * moment,
                    "{y}: {own_moment} {moment}"
                );
                let logs: Vec<f64> =
                    pairs().map(|(m, s)| normal::log_density(y, *m, *s, s.ln())).collect();
                let (own, library) = (logsumexp_of_many(&logs), logsumexp(&logs));
                assert!((own - library).abs() <= 1e-14 * library.abs(), "{y}: {own} {library}");
            }
        }
        assert_eq!(logsumexp_of_many(&[f64::NEG_INFINITY; 9]), f64::NEG_INFINITY);
    }

    /// The closed form against the integral, for mixtures that are narrow, wide, far apart and far from 0.
    #[test]
    fn the_spread_of_a_mixture_is_the_same_both_ways() {
        for (members, gap, uneven) in
            [(2, 0.0, 1.0_f64), (3, 5.0, 1.0), (40, 0.1, 3.0), (200, 0.03, 1.5), (5, 30.0, 8.0)]
        {
            // Spread unevenly, without a generator.
            let at = |m: usize| (m as f64 * 0.618_034).fract();
            let means: Vec<f64> =
                (0..members).map(|m| 7.0 + gap * members as f64 * at(m)).collect();
            let stds: Vec<f64> = (0..members).map(|m| 0.2 * uneven.powf(at(3 * m + 1))).collect();
            let pairs = spread_of_pairs(&means, &stds);
            let integral = Nodes::of(&means, &stds).spread(&means, &stds);
            assert!((integral / pairs - 1.0).abs() < 1e-12, "{members}: {integral} {pairs}");
            assert!((mixture_spread(&means, &stds) / pairs - 1.0).abs() < 1e-12);
        }
        // One Gaussian: std / sqrt(pi).
        let one = Nodes::of(&[1.0], &[0.3]).spread(&[1.0], &[0.3]);
        assert!((one / (0.3 / std::f64::consts::PI.sqrt()) - 1.0).abs() < 1e-14, "{one}");
    }
}
