//! Several comparisons at once: p-values of differences, corrected for their number.

use crate::numeric::normal;

/// Two-sided p-value of a difference: `2 Phi(-|value| / s)`, with `s` the standard deviation of the
/// difference over paired resamples (Efron and Tibshirani 1993, ch. 13). A tail estimated by counting
/// resamples could not fall below `2 / (resamples + 1)`, which correction for many comparisons would raise
/// above 5 %. `None` where more than one resample in twenty has no value, or where one is infinite.
pub fn p_value(value: f64, resamples: &[f64]) -> Option<f64> {
    let defined: Vec<f64> = resamples.iter().copied().filter(|v| !v.is_nan()).collect();
    if defined.len() < 2 || defined.len() * 20 < resamples.len() * 19 || !value.is_finite() {
        return None;
    }
    let n = defined.len() as f64;
    let mean = defined.iter().sum::<f64>() / n;
    let squares: f64 = defined.iter().map(|v| (v - mean).powi(2)).sum();
    let std = (squares / (n - 1.0)).sqrt();
    match std {
        s if !s.is_finite() => None,
        _ if value == 0.0 => Some(1.0),
        0.0 => Some(0.0),
        s => Some(2.0 * normal::cdf(-value.abs() / s)),
    }
}

/// Holm 1979: p-values corrected so that, below 5 %, the chance of even one false finding among all of them
/// is at most 5 %. The k-th smallest of `m` is multiplied by `m - k + 1`, and none is less than one before
/// it. Comparisons without a p-value are not counted.
pub fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        p_values.iter().enumerate().filter_map(|(i, p)| Some((i, (*p)?))).collect();
    order.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let mut adjusted = vec![None; p_values.len()];
    let mut least: f64 = 0.0;
    for (k, (index, p)) in order.iter().enumerate() {
        least = least.max((p * (order.len() - k) as f64).min(1.0));
        adjusted[*index] = Some(least);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `statsmodels.stats.multitest.multipletests([0.01, 0.04, 0.03, 0.005], method="holm")[1]` of
    /// statsmodels 0.15 is `[0.03, 0.06, 0.06, 0.02]`.
    #[test]
    fn corrected_p_values_are_those_of_statsmodels() {
        let p = [Some(0.01), Some(0.04), None, Some(0.03), Some(0.005)];
        let expected = [Some(0.03), Some(0.06), None, Some(0.06), Some(0.02)];
        for (found, expected) in holm(&p).iter().zip(expected) {
            assert_eq!(found.is_some(), expected.is_some());
            assert!((found.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-12, "{found:?}");
        }
    }

    /// Resamples with standard deviation 1 (`statistics.stdev([-1, 0, 1])`), so that the value is the z-score;
    /// `2 * scipy.stats.norm.sf(1.96)` = 0.04999579029644087.
    #[test]
    fn the_p_value_is_that_of_a_z_score() {
        let p = |value| p_value(value, &[value - 1.0, value, value + 1.0]);
        assert!((p(1.96).expect("defined") - 0.04999579029644087).abs() < 1e-12);
        assert_eq!(p(1.96), p(-1.96));
        assert_eq!(p_value(0.0, &[0.0, 0.0]), Some(1.0));
        assert_eq!(p_value(2.0, &[2.0, 2.0]), Some(0.0));
        assert_eq!(p_value(2.0, &[2.0, f64::INFINITY]), None);
        assert_eq!(p_value(2.0, &[2.0, f64::NAN]), None);
    }
}
