//! What a check says: where the observed value lies among the replicates.

use serde::{Deserialize, Serialize};

use crate::bootstrap::percentile;
use crate::card::Card;
use crate::score::Undefined;

/// When a check passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The p-value is neither 0 nor 1: Gopal 2021, sec. 3.2.
    Range,
    /// The observed value is between the 2.5th and the 97.5th percentile: its appendix A.
    Interval,
}

/// A statistic of the observed labels and of the replicates.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The score's public name.
    pub statistic: String,
    /// What the score says of itself.
    pub card: &'static Card,
    /// Number of examples.
    pub n: usize,
    /// Its value for the observed labels, or why there is none.
    pub observed: Result<f64, Undefined>,
    /// Its values for the replicates, ascending; those without a value are left out.
    pub replicates: Vec<f64>,
}

/// The same in plain numbers; what has no value is `None`, and `why` says why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The score's public name.
    pub statistic: String,
    /// Value for the observed labels.
    pub observed: Option<f64>,
    /// Fraction of the replicates strictly below it.
    pub p_value: Option<f64>,
    /// 95th minus 5th percentile of the replicates.
    pub sharpness: Option<f64>,
    /// Whether the check passes.
    pub passes: Option<bool>,
    /// 2.5th percentile of the replicates.
    pub lo: Option<f64>,
    /// 97.5th percentile.
    pub hi: Option<f64>,
    /// 5th, 25th, 50th, 75th and 95th percentile: whiskers, box and its line.
    pub box_plot: Option<[f64; 5]>,
    /// Number of examples.
    pub n: usize,
    /// Why there is no value.
    pub why: Option<String>,
}

impl Checked {
    /// From replicates in any order, NaN for those without a value. With more than one in twenty
    /// undefined there is no check: what is left would be no sample of what the model expects.
    pub(super) fn new(
        statistic: String,
        card: &'static Card,
        n: usize,
        observed: Result<f64, Undefined>,
        replicates: Vec<f64>,
    ) -> Self {
        let all = replicates.len();
        let mut defined: Vec<f64> = replicates.into_iter().filter(|v| !v.is_nan()).collect();
        defined.sort_unstable_by(f64::total_cmp);
        let missing = all - defined.len();
        let observed = observed.and_then(|value| match value {
            value if value.is_nan() => Err(Undefined::because("the value is not a number")),
            _ if missing * 20 > all => {
                Err(Undefined(format!("{missing} of {all} replicates leave it without a value")))
            }
            value => Ok(value),
        });
        if observed.is_err() {
            defined.clear();
        }
        Self { statistic, card, n, observed, replicates: defined }
    }

    fn judged<T>(&self, f: impl Fn(f64, &[f64]) -> T) -> Option<T> {
        let observed = self.observed.as_ref().ok()?;
        (!self.replicates.is_empty()).then(|| f(*observed, &self.replicates))
    }

    /// Fraction of the replicates strictly below the observed value.
    pub fn p_value(&self) -> Option<f64> {
        self.judged(|observed, replicates| {
            replicates.partition_point(|&r| r < observed) as f64 / replicates.len() as f64
        })
    }

    /// Quantile of the replicates, linear between neighbours.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.judged(|_, replicates| percentile(replicates, q))
    }

    /// 95th minus 5th percentile: how sure the model is of its own score.
    pub fn sharpness(&self) -> Option<f64> {
        Some(self.quantile(0.95)? - self.quantile(0.05)?)
    }

    /// Whether the observed value is one that the model expects.
    pub fn passes(&self, rule: Rule) -> Option<bool> {
        match rule {
            Rule::Range => self.p_value().map(|p| p != 0.0 && p != 1.0),
            Rule::Interval => {
                let (low, high) = (self.quantile(0.025)?, self.quantile(0.975)?);
                self.judged(|observed, _| (low..=high).contains(&observed))
            }
        }
    }

    /// In plain numbers.
    pub fn summary(&self, rule: Rule) -> Summary {
        let box_plot = || -> Option<[f64; 5]> {
            let of = |q| self.quantile(q);
            Some([of(0.05)?, of(0.25)?, of(0.5)?, of(0.75)?, of(0.95)?])
        };
        Summary {
            statistic: self.statistic.clone(),
            observed: self.observed.as_ref().ok().copied(),
            p_value: self.p_value(),
            sharpness: self.sharpness(),
            passes: self.passes(rule),
            lo: self.quantile(0.025),
            hi: self.quantile(0.975),
            box_plot: box_plot(),
            n: self.n,
            why: self.observed.as_ref().err().map(|why| why.0.clone()),
        }
    }
}
