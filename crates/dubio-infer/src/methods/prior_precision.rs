//! The precision of the prior of a Laplace approximation, and the marginal likelihood that it may be chosen by.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where the precision `d` of the prior `Normal(0, 1 / d)` comes from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", try_from = "Value")]
pub enum PriorPrecision {
    /// The one that makes the marginal likelihood largest.
    MarginalLikelihood,
    /// The prior that the network was trained with.
    Given,
    /// This one.
    #[serde(untagged)]
    Number(f64),
}

/// The largest precision, and one over the smallest.
const MOST: f64 = 1e9;

impl TryFrom<Value> for PriorPrecision {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value {
            Value::String(name) if name == "marginal-likelihood" => Ok(Self::MarginalLikelihood),
            Value::String(name) if name == "given" => Ok(Self::Given),
            Value::Number(number) => match number.as_f64() {
                Some(precision) if (1.0 / MOST..=MOST).contains(&precision) => {
                    Ok(Self::Number(precision))
                }
                _ => Err(format!("a prior precision must be from {:e} to {MOST:e}", 1.0 / MOST)),
            },
            _ => Err("must be \"marginal-likelihood\", \"given\", or a number".to_string()),
        }
    }
}

/// What the marginal likelihood of a Laplace approximation depends on besides the precision.
pub(super) struct Evidence {
    /// `log p(D | theta)` at the most probable parameters.
    pub(super) log_likelihood: f64,
    /// The eigenvalues of the curvature, `h`.
    pub(super) eigenvalues: Vec<f64>,
    /// `|theta|^2` of the parameters that are random.
    pub(super) squares: f64,
}

/// A noise of a regression that all examples share, `s`.
#[derive(Clone, Copy)]
pub(super) struct SharedNoise {
    pub(super) examples: f64,
    pub(super) std: f64,
}

impl Evidence {
    /// `log p(D | theta) - sum log(1 + h / d) / 2 - d |theta|^2 / 2`: MacKay 1992.
    pub(super) fn at(&self, d: f64) -> f64 {
        let log_determinant: f64 = self.eigenvalues.iter().map(|h| (h / d).ln_1p()).sum();
        self.log_likelihood - 0.5 * (log_determinant + d * self.squares)
    }

    /// The same with another noise: `log p(D | theta) = -n log s - n log(2 pi) / 2 - E / (2 s^2)` with the squared errors
    /// `E`, and the curvature scales with `1 / s^2`.
    pub(super) fn with_noise(&self, noise: SharedNoise, std: f64) -> Self {
        let log_scale = |std: f64| noise.examples * (std.ln() + 0.5 * TAU.ln());
        let squared_errors =
            -2.0 * noise.std.powi(2) * (self.log_likelihood + log_scale(noise.std));
        let ratio = (noise.std / std).powi(2);
        Self {
            log_likelihood: -log_scale(std) - 0.5 * squared_errors / std.powi(2),
            eigenvalues: self.eigenvalues.iter().map(|h| ratio * h).collect(),
            squares: self.squares,
        }
    }

    /// The precision and the noise that maximise the evidence, updated in turn: `s^2 = E / (n - sum h / (h + d))`,
    /// MacKay 1992.
    pub(super) fn best_precision_and_noise(&self, noise: SharedNoise) -> (f64, f64) {
        let unit = self.with_noise(noise, 1.0);
        let squared_errors = -2.0 * unit.log_likelihood - noise.examples * TAU.ln();
        let (mut d, mut std) = (1.0, noise.std);
        for _ in 0..1000 {
            let now = self.with_noise(noise, std);
            d = now.best_precision();
            let effective: f64 = now.eigenvalues.iter().map(|h| h / (h + d)).sum();
            let left = (noise.examples - effective).max(1e-3 * noise.examples);
            let new = (squared_errors / left).sqrt().clamp(1e-4, 1e4);
            let change = (new / std - 1.0).abs();
            std = new;
            if change < 1e-12 {
                break;
            }
        }
        (d, std)
    }

    /// The precision that maximises the evidence: `sum h / (h + d) = d |theta|^2`. The left side falls with `d` and the
    /// right one rises, so there is one solution, found by bisection of `log d`.
    pub(super) fn best_precision(&self) -> f64 {
        let rises = |d: f64| {
            let effective: f64 = self.eigenvalues.iter().map(|h| h / (h + d)).sum();
            effective > d * self.squares
        };
        let (mut low, mut high) = (-MOST.ln(), MOST.ln());
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if rises(middle.exp()) {
                low = middle;
            } else {
                high = middle;
            }
        }
        high.exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_precision_has_a_larger_marginal_likelihood() {
        let evidence =
            Evidence { log_likelihood: -3.0, eigenvalues: vec![0.1, 2.0, 70.0], squares: 1.7 };
        let best = evidence.best_precision();
        for factor in [0.5, 0.9, 0.99, 1.01, 1.1, 2.0] {
            assert!(evidence.at(best) > evidence.at(best * factor), "{best} {factor}");
        }
    }
}
