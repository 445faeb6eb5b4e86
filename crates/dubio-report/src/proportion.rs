//! How far a fraction of examples may be off by chance.

/// Wilson's score interval of a fraction of `n` examples, `z` standard deviations wide on either side
/// (Wilson 1927); 1.96 for 95 %. It stays inside `[0, 1]`, also where all or none of a few examples count.
pub(crate) fn wilson(fraction: f64, n: usize, z: f64) -> (f64, f64) {
    let n = n as f64;
    let middle = (fraction + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half =
        z / (1.0 + z * z / n) * (fraction * (1.0 - fraction) / n + z * z / (4.0 * n * n)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// Standard deviations of a 95 % interval.
pub(crate) const Z95: f64 = 1.959963984540054;

#[cfg(test)]
mod tests {
    use super::*;

    /// `statsmodels.stats.proportion.proportion_confint(k, n, method="wilson")` of statsmodels 0.15: of 7 of 10
    /// (0.39677814746114537, 0.8922087325936989), of 0 of 5 (0, 0.43448246478317487).
    #[test]
    fn the_interval_is_that_of_statsmodels() {
        let (lo, hi) = wilson(0.7, 10, Z95);
        assert!((lo - 0.39677814746114537).abs() < 1e-9 && (hi - 0.8922087325936989).abs() < 1e-9);
        let (lo, hi) = wilson(0.0, 5, Z95);
        assert!(lo.abs() < 1e-12 && (hi - 0.43448246478317487).abs() < 1e-9);
    }
}
