//! Priors over parameters.

use std::ops::Range;

use dubio_nn::engine::Vector;

/// A prior: `-log p(theta)` up to a constant, and its gradient.
///
/// Methods on mini-batches descend `U / N`, so gradients are divided by a number of examples.
pub trait Prior<V: Vector>: Send + Sync {
    /// `-log p(theta)`, up to a constant. Waits.
    fn value(&self, theta: &V) -> f64;
    /// `to += a grad(-log p)(theta) / examples`.
    fn add_gradient(&self, a: f64, examples: f64, theta: &V, to: &mut V);
    /// `c`, if its gradient divided by this number of examples is `c theta`.
    fn decay(&self, _examples: f64) -> Option<f64> {
        None
    }
    /// Whether its gradient is 0 everywhere.
    fn is_flat(&self) -> bool {
        false
    }
    /// The prior of a stretch of the parameters by itself, the others being fixed.
    fn part(&self, range: Range<usize>) -> Box<dyn Prior<V>>;
}

/// `Normal(0, 1 / precision)` on every parameter; flat where the precision is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaussian {
    /// `1 / s^2`.
    pub precision: f64,
}

impl<V: Vector> Prior<V> for Gaussian {
    fn value(&self, theta: &V) -> f64 {
        0.5 * self.precision * theta.dot(theta)
    }
    fn add_gradient(&self, a: f64, examples: f64, theta: &V, to: &mut V) {
        to.axpy(a * (self.precision / examples), theta);
    }
    fn decay(&self, examples: f64) -> Option<f64> {
        Some(self.precision / examples)
    }
    fn is_flat(&self) -> bool {
        self.precision == 0.0
    }
    fn part(&self, _: Range<usize>) -> Box<dyn Prior<V>> {
        Box::new(*self)
    }
}

/// `f Normal(0, wide^2) + (1 - f) Normal(0, narrow^2)` on every parameter: Blundell et al. 2015, eq. 7. Worked out on the
/// host: an engine elsewhere waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaleMixture {
    /// Standard deviation of the wide part.
    pub wide_std: f64,
    /// Standard deviation of the narrow part.
    pub narrow_std: f64,
    /// `f`.
    pub wide_fraction: f64,
}

impl ScaleMixture {
    /// Logarithms of both parts of the density at a number.
    fn parts(&self, x: f64) -> [(f64, f64); 2] {
        let parts =
            [(self.wide_fraction, self.wide_std), (1.0 - self.wide_fraction, self.narrow_std)];
        parts.map(|(fraction, s)| {
            let log =
                fraction.ln() - s.ln() - 0.5 * (x / s).powi(2) - 0.5 * std::f64::consts::TAU.ln();
            (log, s)
        })
    }

    /// `-log p(x)` of one parameter, and its derivative `x sum_k r_k / s_k^2` with the parts' shares `r_k` of the density.
    pub fn at(&self, x: f64) -> (f64, f64) {
        let [(wide, s), (narrow, t)] = self.parts(x);
        let top = wide.max(narrow);
        let log = top + ((wide - top).exp() + (narrow - top).exp()).ln();
        let slope = x * ((wide - log).exp() / (s * s) + (narrow - log).exp() / (t * t));
        (-log, slope)
    }
}

impl<V: Vector> Prior<V> for ScaleMixture {
    fn value(&self, theta: &V) -> f64 {
        theta.read(0..theta.len()).into_iter().map(|x| self.at(x).0).sum()
    }
    fn add_gradient(&self, a: f64, examples: f64, theta: &V, to: &mut V) {
        let slopes: Vec<f64> =
            theta.read(0..theta.len()).into_iter().map(|x| self.at(x).1).collect();
        let mut gradient = theta.zeros(theta.len());
        gradient.write(0, &slopes);
        to.axpy(a / examples, &gradient);
    }
    fn part(&self, _: Range<usize>) -> Box<dyn Prior<V>> {
        Box::new(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mixture_is_a_density_with_the_slope_of_its_logarithm() {
        let mixture = ScaleMixture { wide_std: 1.0, narrow_std: 0.05, wide_fraction: 0.3 };
        let width = 1e-4;
        let total: f64 =
            (-60_000..60_000).map(|i| (-mixture.at(f64::from(i) * width).0).exp() * width).sum();
        assert!((total - 1.0).abs() < 1e-6, "{total}");
        for x in [-2.0, -0.11, 0.02, 0.13, 0.2, 1.0] {
            let slope = (mixture.at(x + 1e-6).0 - mixture.at(x - 1e-6).0) / 2e-6;
            assert!((slope - mixture.at(x).1).abs() < 1e-5 * (1.0 + slope.abs()), "{x}: {slope}");
        }
        // Far out in the narrow part's tail nothing underflows.
        assert!(mixture.at(50.0).1.is_finite() && (mixture.at(50.0).1 - 50.0).abs() < 1e-9);
    }
}
