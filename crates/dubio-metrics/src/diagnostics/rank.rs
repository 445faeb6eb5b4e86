//! Ranks as normal scores, and split R-hat of them.

use super::{halves, mean, variance};
use crate::numeric::normal::quantile;

/// The larger of R-hat of the values and of their distances from the median, both rank-normalised, in half chains.
pub(super) fn rhat(draws: &[f64], chains: usize) -> f64 {
    let split = halves(draws, chains);
    let middle = median(&split);
    let folded: Vec<f64> = split.iter().map(|draw| (draw - middle).abs()).collect();
    let of = |values: &[f64]| plain(&normal_scores(values), 2 * chains);
    of(&split).max(of(&folded))
}

/// `sqrt(((n - 1) / n W + B / n) / W)`, with the variance within chains `W` and `n` times that of their means `B`.
/// `sqrt((n - 1) / n)` where the means do not differ, even if `W` is 0.
fn plain(values: &[f64], chains: usize) -> f64 {
    let length = values.len() / chains;
    let each = || values.chunks_exact(length);
    let means: Vec<f64> = each().map(mean).collect();
    let within = mean(&each().map(variance).collect::<Vec<_>>());
    let (between, n) = (variance(&means), length as f64);
    if between == 0.0 {
        return ((n - 1.0) / n).sqrt();
    }
    (between / within + (n - 1.0) / n).sqrt()
}

/// Normal quantiles of `(r - 3/8) / (S + 1/4)` for the ranks `r` of `S` values, equal values having their mean rank.
pub(super) fn normal_scores(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut scores = vec![0.0; values.len()];
    let mut first = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = first as f64 + 0.5 * (equal.len() as f64 + 1.0);
        let score = quantile((rank - 0.375) / (values.len() as f64 + 0.25));
        equal.iter().for_each(|&place| scores[place] = score);
        first += equal.len();
    }
    scores
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        0.5 * (sorted[half - 1] + sorted[half])
    } else {
        sorted[half]
    }
}
