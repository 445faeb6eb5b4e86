//! Regressed examples: what the scores know of predictive distributions and targets.

use std::ops::Range;

use rayon::prelude::*;

use super::parts::Parts;
use super::predictive::{Whole, empirical_row, gaussian_row};
use crate::members::Members;
use crate::numeric::normal;
use crate::score::Undefined;

/// Targets and everything that a score may ask of their predictive distributions. What the form
/// of the predictions does not determine is `Err` with the reason.
#[derive(Clone, Debug)]
pub struct Outcomes {
    /// True value of each example.
    pub targets: Vec<f64>,
    /// Mean of the predictive distribution.
    pub mean: Result<Vec<f64>, Undefined>,
    /// The prediction whose absolute error is scored: the mean, or the median of quantiles.
    pub point: Result<Vec<f64>, Undefined>,
    /// Log density of each member at the target, `[examples, members]`.
    pub member_log_density: Result<Vec<f64>, Undefined>,
    /// Number of members.
    pub members: usize,
    /// Log density of the predictive distribution at the target.
    pub log_density: Result<Vec<f64>, Undefined>,
    /// Continuous ranked probability score.
    pub crps: Result<Vec<f64>, Undefined>,
    /// Distribution function at the target, `F(y)`.
    pub cdf: Result<Vec<f64>, Undefined>,
    /// `|2 F(y) - 1|`, without the rounding of that expression where `F` is a ratio of counts.
    pub centrality: Result<Vec<f64>, Undefined>,
    /// Ends of the central interval.
    pub interval: Result<Vec<(f64, f64)>, Undefined>,
    /// Levels and predicted quantiles `[levels, examples]`, when that is what was given.
    pub quantiles: Option<(Vec<f64>, Vec<f64>)>,
}

/// A number that no regression file may hold.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what} at member {member}, example {example}")]
pub struct BadNumber {
    /// Which array.
    pub array: &'static str,
    /// What is wrong.
    pub what: String,
    /// Member, draw or level, from 0.
    pub member: usize,
    /// Example, from 0.
    pub example: usize,
}

impl Outcomes {
    /// Equal mixtures of Gaussian members: some parts, the others are `Err`.
    pub fn gaussians(
        mean: &dyn Members,
        std: &dyn Members,
        targets: Vec<f64>,
        level: f64,
        parts: Parts,
    ) -> Result<Self, BadNumber> {
        check(mean, "mean", |x| (!x.is_finite()).then(|| format!("{x}")))?;
        check(std, "std", |x| {
            (!(x > 0.0 && x.is_finite()))
                .then(|| format!("standard deviation {x}, which must be above 0 and finite"))
        })?;
        let members = mean.members();
        let tail = normal::quantile(0.5 + 0.5 * level);
        let (rows, densities): (Vec<Whole>, Vec<Vec<f64>>) =
            per_example(&[mean, std], |i, column| {
                let (means, stds) = column.split_at(members);
                gaussian_row(means, stds, targets[i], (level, tail), parts)
            })
            .into_iter()
            .unzip();
        let mut outcomes = Self::from_rows(targets, &rows, members, parts);
        if parts.density {
            outcomes.member_log_density = Ok(densities.concat());
        }
        Ok(outcomes)
    }

    /// Empirical distributions of draws.
    pub fn samples(
        samples: &dyn Members,
        targets: Vec<f64>,
        level: f64,
    ) -> Result<Self, BadNumber> {
        check(samples, "samples", |x| (!x.is_finite()).then(|| format!("{x}")))?;
        let rows = per_example(&[samples], |i, draws| {
            draws.sort_unstable_by(f64::total_cmp);
            empirical_row(draws, targets[i], level)
        });
        let mut outcomes = Self::from_rows(targets, &rows, samples.members(), Parts::ALL);
        let no_density = || Undefined::because("draws have no density: give mean and std");
        outcomes.log_density = Err(no_density());
        outcomes.member_log_density = Err(no_density());
        Ok(outcomes)
    }

    /// Predicted quantiles at levels that ascend inside `(0, 1)`; `quantiles` is
    /// `[levels, examples]`.
    pub fn quantiles(
        levels: Vec<f64>,
        quantiles: &dyn Members,
        targets: Vec<f64>,
        level: f64,
    ) -> Result<Self, BadNumber> {
        check(quantiles, "quantiles", |x| (!x.is_finite()).then(|| format!("{x}")))?;
        let n = targets.len();
        let mut values = vec![0.0; levels.len() * n];
        for (index, row) in values.chunks_mut(n).enumerate() {
            quantiles.read(index, 0..n, row);
        }
        // A file in single precision holds 0.975 as 0.97500002.
        let at = |wanted: f64| {
            let index = levels.iter().position(|l| (l - wanted).abs() < 1e-6);
            index.map(|index| &values[index * n..(index + 1) * n]).ok_or_else(|| {
                Undefined(format!("the file has no quantile at level {}", round(wanted)))
            })
        };
        let interval = at(0.5 - 0.5 * level).and_then(|lower| {
            let upper = at(0.5 + 0.5 * level)?;
            Ok(lower.iter().copied().zip(upper.iter().copied()).collect())
        });
        let point = at(0.5).map(<[f64]>::to_vec);
        let unknown = || Undefined::because("a few quantiles do not determine it");
        Ok(Self {
            targets,
            mean: Err(unknown()),
            point,
            member_log_density: Err(unknown()),
            members: 1,
            log_density: Err(unknown()),
            crps: Err(unknown()),
            cdf: Err(unknown()),
            centrality: Err(unknown()),
            interval,
            quantiles: Some((levels, values)),
        })
    }

    fn from_rows(targets: Vec<f64>, rows: &[Whole], members: usize, parts: Parts) -> Self {
        fn each<T>(
            rows: &[Whole],
            is_there: bool,
            of: fn(&Whole) -> T,
        ) -> Result<Vec<T>, Undefined> {
            let values = is_there.then(|| rows.iter().map(of).collect());
            values.ok_or_else(|| Undefined::because("not worked out"))
        }
        Self {
            targets,
            mean: each(rows, true, |r| r.mean),
            point: each(rows, true, |r| r.mean),
            member_log_density: Err(Undefined::because("not worked out")),
            members,
            log_density: each(rows, parts.density, |r| r.at.log_density),
            crps: each(rows, parts.crps, |r| r.at.crps),
            cdf: each(rows, parts.distribution, |r| r.at.cdf),
            centrality: each(rows, parts.distribution, |r| r.at.centrality),
            interval: each(rows, parts.interval, |r| r.interval),
            quantiles: None,
        }
    }

    /// Examples whose predicted quantiles cross: a quantile of a higher level lies below one of a lower level,
    /// which no distribution allows.
    pub fn crossings(&self) -> usize {
        let Some((levels, values)) = &self.quantiles else { return 0 };
        let n = self.len();
        let crosses =
            |i: &usize| (1..levels.len()).any(|k| values[k * n + i] < values[(k - 1) * n + i]);
        (0..n).filter(crosses).count()
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The examples with these indices.
    pub fn subset(&self, rows: &[u32]) -> Self {
        fn take<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
            rows.iter().map(|&i| values[i as usize]).collect()
        }
        let floats = |v: &Result<Vec<f64>, Undefined>| {
            v.as_ref().map(|v| take(v, rows)).map_err(Clone::clone)
        };
        let (n, members) = (self.len(), self.members);
        Self {
            targets: take(&self.targets, rows),
            mean: floats(&self.mean),
            point: floats(&self.point),
            member_log_density: self.member_log_density.as_ref().map_err(Clone::clone).map(|all| {
                let member_rows = rows.iter().map(|&i| i as usize * members);
                member_rows.flat_map(|start| all[start..start + members].to_vec()).collect()
            }),
            members,
            log_density: floats(&self.log_density),
            crps: floats(&self.crps),
            cdf: floats(&self.cdf),
            centrality: floats(&self.centrality),
            interval: self.interval.as_ref().map(|v| take(v, rows)).map_err(Clone::clone),
            quantiles: self.quantiles.as_ref().map(|(levels, values)| {
                (levels.clone(), values.chunks(n).flat_map(|row| take(row, rows)).collect())
            }),
        }
    }
}

/// Ten digits are enough to name a level, and hide the rounding of `1 - 0.95`.
fn round(level: f64) -> f64 {
    (level * 1e10).round() / 1e10
}

/// The first number that `fault` objects to, in the order of the file.
fn check(
    source: &dyn Members,
    array: &'static str,
    fault: impl Fn(f64) -> Option<String>,
) -> Result<(), BadNumber> {
    const BLOCK: usize = 1 << 16;
    let mut block = vec![0.0; BLOCK.min(source.examples())];
    for member in 0..source.members() {
        for rows in blocks(source.examples(), BLOCK) {
            let block = &mut block[..rows.len()];
            source.read(member, rows.clone(), block);
            let bad = block.iter().enumerate().find_map(|(i, &x)| fault(x).map(|what| (i, what)));
            if let Some((i, what)) = bad {
                return Err(BadNumber { array, what, member, example: rows.start + i });
            }
        }
    }
    Ok(())
}

fn blocks(n: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n).step_by(size).map(move |start| start..n.min(start + size))
}

/// Calls `f(example, values of all members of all sources)` for every example.
fn per_example<T: Send>(
    sources: &[&dyn Members],
    f: impl Fn(usize, &mut [f64]) -> T + Sync,
) -> Vec<T> {
    let n = sources[0].examples();
    let width: usize = sources.iter().map(|s| s.members()).sum();
    // Enough examples at a time to read in runs, few enough to stay in the cache.
    let size = (65_536 / width).clamp(1, n.div_ceil(4 * rayon::current_num_threads()).max(1));
    let blocks: Vec<Range<usize>> = blocks(n, size).collect();
    blocks
        .into_par_iter()
        .flat_map_iter(|rows| {
            let mut by_member = vec![0.0; rows.len() * width];
            let members = sources.iter().flat_map(|s| (0..s.members()).map(move |m| (s, m)));
            for ((source, member), out) in members.zip(by_member.chunks_mut(rows.len())) {
                source.read(member, rows.clone(), out);
            }
            let mut column = vec![0.0; width];
            let count = rows.len();
            let block: Vec<T> = rows
                .clone()
                .enumerate()
                .map(|(offset, example)| {
                    for (member, value) in column.iter_mut().enumerate() {
                        *value = by_member[member * count + offset];
                    }
                    f(example, &mut column)
                })
                .collect();
            block
        })
        .collect()
}
