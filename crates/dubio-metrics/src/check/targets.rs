//! The check of a regression.

use dubio_random::normal::normal;
use dubio_random::stream::Generator;
use dubio_random::uniform::below;
use rayon::prelude::*;

use super::{BLIND, Checked, Checking, Mode};
use crate::members::Members;
use crate::regression::{AtTargets, Outcomes};
use crate::score::{Needs, Score, Undefined};
use crate::weights::Weights;

/// What targets are drawn from.
#[derive(Clone, Copy)]
pub enum Predictive<'a> {
    /// Means and standard deviations of Gaussian members.
    Gaussians(&'a dyn Members, &'a dyn Members),
    /// Draws: each is a member that knows exactly what the targets will be.
    Samples(&'a dyn Members),
}

/// Checks the scores that are wanted. `outcomes` are the predictions with the observed targets.
pub fn regression(
    predictive: Predictive<'_>,
    outcomes: &Outcomes,
    scores: &[Box<dyn Score<Outcomes>>],
    checking: &Checking<'_>,
) -> Vec<Checked> {
    let wanted: Vec<&dyn Score<Outcomes>> =
        scores.iter().map(|s| &**s).filter(|s| (checking.wanted)(&s.name())).collect();
    let needs: Vec<Needs> = wanted.iter().map(|score| score.needs()).collect();
    let ensemble = Ensemble::new(predictive);
    let at = ensemble.at_targets(&needs);
    let of = |targets: Vec<f64>| {
        let outcomes = at.outcomes(outcomes, targets);
        let ones = vec![[1]; outcomes.len()];
        let ones = Weights::new(&ones);
        let value = |score: &&dyn Score<Outcomes>| {
            if score.needs() == Needs::Nothing {
                return Err(Undefined::because(BLIND));
            }
            Ok(score.prepare(&outcomes, &checking.options)?.value(&ones))
        };
        wanted.iter().map(value).collect::<Vec<Result<f64, Undefined>>>()
    };
    let observed = of(outcomes.targets.clone());
    checking.progress.start("replicates", checking.replicates);
    let replicates: Vec<Vec<f64>> = (0..checking.replicates)
        .into_par_iter()
        .map(|replicate| {
            let stream = checking.stream.child("targets").nth(replicate);
            let values = of(ensemble.draw(checking.mode, &mut stream.generator()));
            checking.progress.advance(1);
            values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect()
        })
        .collect();
    let checked = wanted.iter().zip(observed).enumerate().map(|(s, (score, observed))| {
        let own = replicates.iter().map(|values| values[s]).collect();
        Checked::new(score.name(), score.card(), outcomes.len(), observed, own)
    });
    checked.collect()
}

/// The members' numbers in memory, `[examples, members]`.
struct Ensemble {
    members: usize,
    examples: usize,
    mean: Vec<f64>,
    /// Empty for draws.
    std: Vec<f64>,
}

impl Ensemble {
    fn new(predictive: Predictive<'_>) -> Self {
        let (mean, std) = match predictive {
            Predictive::Gaussians(mean, std) => (mean, by_example(std)),
            Predictive::Samples(samples) => (samples, Vec::new()),
        };
        let (members, examples) = (mean.members(), mean.examples());
        Self { members, examples, mean: by_example(mean), std }
    }

    fn at_targets<'a>(&'a self, needs: &'a [Needs]) -> AtTargets<'a> {
        if self.std.is_empty() {
            AtTargets::samples(self.members, &self.mean, needs)
        } else {
            AtTargets::gaussians(self.members, &self.mean, &self.std, needs)
        }
    }

    /// The targets of one replicate.
    fn draw(&self, mode: Mode, generator: &mut Generator) -> Vec<f64> {
        let pick = |generator: &mut Generator| below(generator, self.members as u64) as usize;
        let one = pick(generator);
        let target = |example: usize| {
            let member = match mode {
                Mode::Bayesian => one,
                Mode::Independent => pick(generator),
            };
            let at = example * self.members + member;
            match self.std.get(at) {
                Some(std) => self.mean[at] + std * normal(generator),
                None => self.mean[at],
            }
        };
        (0..self.examples).map(target).collect()
    }
}

/// All members of each example, one example after the other.
fn by_example(source: &dyn Members) -> Vec<f64> {
    let (members, examples) = (source.members(), source.examples());
    let mut all = vec![0.0; members * examples];
    let mut row = vec![0.0; examples];
    for member in 0..members {
        source.read(member, 0..examples, &mut row);
        for (example, value) in row.iter().enumerate() {
            all[example * members + member] = *value;
        }
    }
    all
}
