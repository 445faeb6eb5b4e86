//! Predictive distributions asked about targets. What does not depend on the targets is worked out
//! once, and of the rest only what is needed.

use rayon::prelude::*;

use super::Outcomes;
use super::predictive::{Row, empirical_spread, mixture_log_density, mixture_row};
use super::predictive::{mixture_spread, sample_row};
use crate::score::{Needs, Undefined};

/// Predictive distributions of some examples.
pub(crate) struct AtTargets<'a> {
    members: usize,
    kind: Kind<'a>,
    needs: &'a [Needs],
    /// What `crps` subtracts, `1/2 E|X - X'|`, of each example; empty when it is not needed.
    spread: Vec<f64>,
    /// Logarithms of the standard deviations; empty for draws.
    log_std: Vec<f64>,
}

enum Kind<'a> {
    /// Means and standard deviations, `[examples, members]`.
    Gaussians(&'a [f64], &'a [f64]),
    /// Draws, `[examples, draws]`, ascending for each example.
    Samples(Vec<f64>),
}

impl<'a> AtTargets<'a> {
    pub(crate) fn gaussians(
        members: usize,
        mean: &'a [f64],
        std: &'a [f64],
        needs: &'a [Needs],
    ) -> Self {
        let rows = mean.par_chunks(members).zip(std.par_chunks(members));
        let spread = match needs.contains(&Needs::Truth) {
            true => rows.map(|(means, stds)| mixture_spread(means, stds)).collect(),
            false => Vec::new(),
        };
        let log_std = std.par_iter().map(|std| std.ln()).collect();
        Self { members, kind: Kind::Gaussians(mean, std), needs, spread, log_std }
    }

    pub(crate) fn samples(members: usize, samples: &[f64], needs: &'a [Needs]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.par_chunks_mut(members).for_each(|row| row.sort_unstable_by(f64::total_cmp));
        let spread = match needs.contains(&Needs::Truth) {
            true => sorted.par_chunks(members).map(empirical_spread).collect(),
            false => Vec::new(),
        };
        Self { members, kind: Kind::Samples(sorted), needs, spread, log_std: Vec::new() }
    }

    fn needed(&self, part: Needs) -> bool {
        self.needs.contains(&part) || self.needs.contains(&Needs::Truth)
    }

    /// The outcomes for these targets; `outcomes` are those for any other targets.
    pub(crate) fn outcomes(&self, outcomes: &Outcomes, targets: Vec<f64>) -> Outcomes {
        let dense = self.needed(Needs::Density) && outcomes.log_density.is_ok();
        let mut densities = vec![0.0; if dense { targets.len() * self.members } else { 0 }];
        let rows: Vec<Row> = (0..targets.len())
            .map(|i| {
                let own = densities.get_mut(i * self.members..(i + 1) * self.members);
                self.row(i, targets[i], own.unwrap_or_default())
            })
            .collect();
        let part = |known: &Result<Vec<f64>, Undefined>, needs: Needs, of: fn(&Row) -> f64| {
            known.as_ref().map_err(Clone::clone)?;
            let needed = self.needed(needs).then(|| rows.iter().map(of).collect());
            needed.ok_or_else(|| Undefined::because("not worked out"))
        };
        Outcomes {
            mean: outcomes.mean.clone(),
            point: outcomes.point.clone(),
            log_density: part(&outcomes.log_density, Needs::Density, |row| row.log_density),
            member_log_density: outcomes.member_log_density.clone().map(|_| densities),
            members: self.members,
            crps: part(&outcomes.crps, Needs::Truth, |row| row.crps),
            cdf: part(&outcomes.cdf, Needs::Distribution, |row| row.cdf),
            centrality: part(&outcomes.centrality, Needs::Distribution, |row| row.centrality),
            interval: outcomes.interval.clone(),
            quantiles: None,
            targets,
        }
    }

    fn row(&self, example: usize, y: f64, densities: &mut [f64]) -> Row {
        let own = example * self.members..(example + 1) * self.members;
        let spread = self.spread.get(example).copied();
        match &self.kind {
            Kind::Gaussians(means, stds) => {
                let (means, stds, log_stds) =
                    (&means[own.clone()], &stds[own.clone()], &self.log_std[own]);
                let mut row = Row::default();
                if !densities.is_empty() {
                    row.log_density = mixture_log_density(means, stds, log_stds, y, densities);
                }
                if self.needed(Needs::Distribution) {
                    row = mixture_row(means, stds, y, spread, row.log_density);
                }
                row
            }
            Kind::Samples(draws) if self.needed(Needs::Distribution) => {
                sample_row(&draws[own], y, spread)
            }
            Kind::Samples(_) => Row::default(),
        }
    }
}
