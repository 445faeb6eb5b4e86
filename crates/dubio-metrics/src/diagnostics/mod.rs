//! Whether chains have converged: rank-normalised split R-hat and effective sample sizes of what they predict.
//!
//! Vehtari, Gelman, Simpson, Carpenter and Bürkner 2021, *Rank-normalization, folding, and localization: an improved
//! R-hat for assessing convergence of MCMC*. The numbers are those of ArviZ and of Stan's `posterior`.

mod ess;
mod predictions;
mod rank;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use predictions::{Diagnosis, Spread, of_classes, of_gaussians};

/// Convergence of one quantity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Convergence {
    /// Rank-normalised split R-hat: the larger of that of the values and that of their distances from the median. About
    /// 1 or more; above 1.01 the chains do not agree. Infinite where every chain stands still in a place of its own.
    #[serde(with = "infinite")]
    pub rhat: f64,
    /// Effective sample size in the bulk: of the rank-normalised values.
    pub ess_bulk: f64,
    /// Effective sample size in the tails: the smaller of those of the 5th and the 95th percentile.
    pub ess_tail: f64,
}

/// Draws that a chain must have, so that its halves have a variance.
pub const FEWEST: usize = 4;

/// Convergence of the draws of a quantity, given chain after chain, all of one length. `None` for fewer than
/// [`FEWEST`] draws a chain, and where all draws are the same.
pub fn convergence(draws: &[f64], chains: usize) -> Option<Convergence> {
    let different = draws.iter().any(|draw| *draw != draws[0]);
    if chains == 0 || draws.len() / chains < FEWEST || !different {
        return None;
    }
    Some(Convergence {
        rhat: rank::rhat(draws, chains),
        ess_bulk: ess::bulk(draws, chains),
        ess_tail: ess::tail(draws, chains),
    })
}

/// The first and the second half of every chain, as chains of their own; of an odd number of draws the middle one is
/// left out.
fn halves(draws: &[f64], chains: usize) -> Vec<f64> {
    let length = draws.len() / chains;
    let half = length / 2;
    let each = draws.chunks_exact(length);
    each.flat_map(|chain| [&chain[..half], &chain[length - half..]]).flatten().copied().collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sample variance, divided by `n - 1`.
fn variance(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

/// JSON has no infinite number, so infinity is written by name.
mod infinite {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Number {
        Finite(f64),
        Named(String),
    }

    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        let number = if value.is_finite() {
            Number::Finite(*value)
        } else {
            Number::Named("inf".to_string())
        };
        number.serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<f64, D::Error> {
        Ok(match Number::deserialize(from)? {
            Number::Finite(value) => value,
            Number::Named(_) => f64::INFINITY,
        })
    }
}
