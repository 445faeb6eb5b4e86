//! The normal distribution, and quantiles of increasing functions by bracketed Newton steps.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Density of `N(0, 1)`.
pub fn pdf(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

/// Distribution function of `N(0, 1)`, accurate in both tails.
pub fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// Log density of `N(mean, std^2)` at `y`; `log_std` is the logarithm of `std`.
pub fn log_density(y: f64, mean: f64, std: f64, log_std: f64) -> f64 {
    const HALF_LN_2_PI: f64 = 0.918_938_533_204_672_7;
    let z = (y - mean) / std;
    -0.5 * z * z - log_std - HALF_LN_2_PI
}

/// Quantile of `N(0, 1)` at `0 < p < 1`.
pub fn quantile(p: f64) -> f64 {
    increasing_root(-40.0, 40.0, 1.0, |z| (cdf(z) - p, pdf(z)))
}

/// Root of an increasing function given with its derivative, inside `[lo, hi]`, to 1e-12 of
/// `scale` or of the root, whichever is larger. Newton steps; a step that leaves the bracket, or
/// shrinks it by less than half, is replaced by bisection.
pub fn increasing_root(mut lo: f64, mut hi: f64, scale: f64, f: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut x = 0.5 * (lo + hi);
    let mut last_width = hi - lo;
    for _ in 0..400 {
        let (value, slope) = f(x);
        if value == 0.0 {
            return x;
        }
        if value < 0.0 {
            lo = x;
        } else {
            hi = x;
        }
        let step = -value / slope;
        let tolerance = 1e-12 * scale.max(x.abs());
        if step.abs() <= tolerance || hi - lo <= tolerance {
            return (x + step).clamp(lo, hi);
        }
        let newton = x + step;
        let useful = newton > lo && newton < hi && step.abs() < 0.5 * last_width;
        last_width = if useful { step.abs() } else { hi - lo };
        x = if useful { newton } else { 0.5 * (lo + hi) };
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_published_tables() {
        // scipy.stats.norm.ppf
        for (p, z) in [(0.975, 1.959963984540054), (0.5, 0.0), (1e-10, -6.361340902404056)] {
            assert!((quantile(p) - z).abs() < 1e-10, "quantile({p}) = {}", quantile(p));
        }
    }

    #[test]
    fn cdf_keeps_its_digits_in_the_lower_tail() {
        // scipy.stats.norm.cdf(-10)
        assert!((cdf(-10.0) / 7.61985302416047e-24 - 1.0).abs() < 1e-12);
    }
}
