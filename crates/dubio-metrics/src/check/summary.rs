//! The result of a check: where the observed value lies among the replicates.

use serde::{Deserialize, Serialize};

use crate::bootstrap::percentile;
use crate::card::Card;
use crate::score::Undefined;

/// When a check passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The observed value is between the 2.5th and the 97.5th percentile of the replicates, ends included:
    /// Gopal 2021, appendix A.
    #[default]
    Interval,
    /// The one-sided p-value is neither 0 nor 1: Gopal 2021, sec. 3.2. Its verdict depends on the number of
    /// replicates, because more of them reach further; it is there to reproduce the paper's tables.
    Range,
}

/// A statistic of the observed labels and of the replicates.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The score's public name.
    pub statistic: String,
    /// The score's card.
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
    /// Fraction of the replicates strictly below it: one-sided, as published.
    pub p_value: Option<f64>,
    /// Two-sided p-value by rank, see [`Checked::p_two_sided`].
    pub p_two_sided: Option<f64>,
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
                Err(Undefined(format!("it is undefined for {missing} of {all} replicates")))
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

    /// `2 min(1 + below, 1 + above) / (K + 1)`, at most 1, where a replicate that ties with the observed value
    /// counts half on either side. Never 0: `K` replicates cannot show a p-value below `2 / (K + 1)`.
    pub fn p_two_sided(&self) -> Option<f64> {
        self.judged(|observed, replicates| {
            let below = replicates.partition_point(|&r| r < observed);
            let tied = replicates.partition_point(|&r| r <= observed) - below;
            let above = replicates.len() - below - tied;
            let tail = 1.0 + below.min(above) as f64 + 0.5 * tied as f64;
            (2.0 * tail / (replicates.len() as f64 + 1.0)).min(1.0)
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

    /// Whether the observed value is one that the model would produce, according to a rule.
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
            p_two_sided: self.p_two_sided(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classification;

    fn checked(observed: f64, replicates: Vec<f64>) -> Checked {
        let card = classification::scores()[0].card();
        Checked::new("accuracy".into(), card, 10, Ok(observed), replicates)
    }

    /// `from fractions import Fraction as F; r = range(99)`; for each x of 3, 49 and 200 and for 98.5:
    /// `b = sum(i < x for i in r); t = sum(i == x for i in r); a = 99 - b - t;`
    /// `print(float(min(F(1), 2 * (1 + min(b, a) + F(t, 2)) / 100)))` prints 0.09, 1.0, 0.02 and 0.02.
    #[test]
    fn the_two_sided_p_value_is_that_of_the_rank() {
        let replicates = || (0..99).map(f64::from).collect::<Vec<f64>>();
        let expected = [(3.0, 0.09), (49.0, 1.0), (200.0, 0.02), (98.5, 0.02), (-1.0, 0.02)];
        for (observed, p) in expected {
            let found = checked(observed, replicates()).p_two_sided().expect("defined");
            assert!((found - p).abs() < 1e-12, "{observed}: {found}");
        }
        // All tie: half of them lie on either side.
        assert_eq!(checked(1.0, vec![1.0; 40]).p_two_sided(), Some(1.0));
    }

    /// More replicates reach further: with `range` a value that is surely too low passes in the end, with
    /// `interval` the number of replicates does not matter.
    #[test]
    fn the_verdict_by_interval_does_not_depend_on_the_number_of_replicates() {
        for replicates in [100, 1000, 100_000_u32] {
            // Quantiles of the standard normal distribution: the 0.1 % point is at -3.09.
            let quantile =
                |i| crate::numeric::normal::quantile((f64::from(i) + 0.5) / f64::from(replicates));
            let own = checked(-3.09, (0..replicates).map(quantile).collect());
            assert_eq!(own.passes(Rule::Interval), Some(false), "{replicates}");
            assert_eq!(own.passes(Rule::Range), Some(replicates >= 1000), "{replicates}");
            assert!(own.p_two_sided().is_some_and(|p| p < 0.05), "{replicates}");
        }
    }

    /// "passes, p = 1" and "fails, p = 1" cannot both be said: no failed check has a larger two-sided p-value
    /// than a passed one, and both meet at 5 %.
    #[test]
    fn a_failed_check_never_has_a_larger_p_value_than_a_passed_one() {
        let replicates: Vec<f64> = (0..1000).map(f64::from).collect();
        let (mut passed, mut failed) = (1.0_f64, 0.0_f64);
        for observed in (-100..2200).map(|i| f64::from(i) / 2.0 + 0.25) {
            let own = checked(observed, replicates.clone());
            let p = own.p_two_sided().expect("defined");
            match own.passes(Rule::Interval) {
                Some(true) => passed = passed.min(p),
                _ => failed = failed.max(p),
            }
        }
        assert!(failed <= passed && (0.049..0.053).contains(&failed), "{failed} {passed}");
    }
}
