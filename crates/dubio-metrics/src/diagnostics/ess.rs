//! Effective sample sizes: the numbers of independent draws that would tell as much.

use super::rank::normal_scores;
use super::{halves, mean, variance};

/// The effective sample size of the rank-normalised values in half chains.
pub(super) fn bulk(draws: &[f64], chains: usize) -> f64 {
    effective(&normal_scores(&halves(draws, chains)), 2 * chains)
}

/// The smaller effective sample size of two indicators: being at most the 5th, and at most the 95th percentile.
pub(super) fn tail(draws: &[f64], chains: usize) -> f64 {
    let mut sorted = draws.to_vec();
    sorted.sort_by(f64::total_cmp);
    let of = |level: f64| {
        let threshold = percentile(&sorted, level);
        let below: Vec<f64> =
            draws.iter().map(|draw| f64::from(u8::from(*draw <= threshold))).collect();
        effective(&halves(&below, chains), 2 * chains)
    };
    of(0.05).min(of(0.95))
}

/// By linear interpolation between order statistics.
fn percentile(sorted: &[f64], level: f64) -> f64 {
    let at = level * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    // Equal values first: the difference of two infinite ones is not a number.
    if below == above { below } else { below + (at - at.floor()) * (above - below) }
}

/// `S / tau` of chains one after the other, with `tau = 1 + 2 sum_t rho_t`. Correlations of all chains together come
/// in pairs of lags, `(2k, 2k + 1)`, whose sums are positive and fall for a reversible chain: the sequence ends where
/// one is not positive, and none counts for more than the one before (Geyer 1992). Never more than `S log10 S`.
fn effective(values: &[f64], chains: usize) -> f64 {
    let total = values.len() as f64;
    let length = values.len() / chains;
    if values.iter().all(|value| *value == values[0]) {
        return total;
    }
    let means: Vec<f64> = values.chunks_exact(length).map(mean).collect();
    let n = length as f64;
    let within = covariance(values, &means, 0) * n / (n - 1.0);
    let between = if chains > 1 { variance(&means) } else { 0.0 };
    let spread = within * (n - 1.0) / n + between;
    let rho = |lag: usize| 1.0 - (within - covariance(values, &means, lag)) / spread;
    let mut pairs = vec![(1.0, rho(1))];
    while 2 * pairs.len() + 2 < length && pairs.last().is_some_and(|(even, odd)| even + odd > 0.0) {
        let lag = 2 * pairs.len();
        pairs.push((rho(lag), rho(lag + 1)));
    }
    // Of the pair that ends the sequence, the first correlation counts once, if it is positive or
    // the pair's sum is not negative.
    let (even, odd) = pairs.pop().unwrap_or_default();
    let last = if even > 0.0 || even + odd >= 0.0 { even } else { 0.0 };
    let mut most = f64::INFINITY;
    let sums = pairs.iter().map(|(even, odd)| {
        most = most.min(even + odd);
        most
    });
    let tau = -1.0 + 2.0 * sums.sum::<f64>() + last;
    total / tau.max(1.0 / total.log10())
}

/// Mean over chains of `1/n sum_i (x_i - mean) (x_{i + lag} - mean)`.
fn covariance(values: &[f64], means: &[f64], lag: usize) -> f64 {
    let length = values.len() / means.len();
    let each = values.chunks_exact(length).zip(means).map(|(chain, mean)| {
        let pairs = chain.iter().zip(&chain[lag..]);
        pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / length as f64
    });
    each.sum::<f64>() / means.len() as f64
}
