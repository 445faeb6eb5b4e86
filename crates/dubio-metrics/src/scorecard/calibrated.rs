//! `calibrated.NAME`: scores at the best temperature, by test-time cross-validation.

use rayon::prelude::*;

use super::{Entry, Scoring};
use crate::bootstrap::{Bootstrap, replicates};
use crate::calibrate::cross_validation::{Fold, REPEATS, split};
use crate::calibrate::temperature;
use crate::examples::Examples;
use crate::score::{Prepared, Score, Undefined};
use crate::weights::{LANES, Weights};

/// Whether a score has a calibrated form. Not so what is about the temperature itself, about other
/// predictions, or about members: the temperature belongs to their mean.
pub fn has_calibrated_form(name: &str) -> bool {
    !matches!(
        name,
        "temperature"
            | "agreement"
            | "total_variation"
            | "uncertainty.data"
            | "uncertainty.knowledge"
    ) && !name.ends_with(".model")
}

/// `calibrated.NAME`: every score at the best temperature, by test-time cross-validation. An
/// interval keeps the temperatures, resamples the halves of the first split, and is moved to the
/// mean over all splits.
pub fn calibrated(
    examples: &Examples,
    scores: &[Box<dyn Score<Examples>>],
    scoring: &Scoring<'_>,
) -> Vec<Entry> {
    let name = |score: &dyn Score<Examples>| format!("calibrated.{}", score.name());
    let wanted: Vec<&dyn Score<Examples>> = scores
        .iter()
        .map(|s| &**s)
        .filter(|s| has_calibrated_form(&s.name()) && (scoring.wanted)(&name(*s)))
        .collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    scoring.progress.start("calibrated", REPEATS);
    let entry = |score: &dyn Score<Examples>, value, replicates| {
        Entry::new(name(score), score.card(), examples.len(), value, replicates)
    };
    match cross_validated(examples, &wanted, scoring) {
        Err(why) => {
            wanted.iter().map(|score| entry(*score, Err(why.clone()), Vec::new())).collect()
        }
        Ok((values, replicates)) => {
            let mut replicates = replicates.into_iter();
            let with_replicates = wanted.iter().zip(values).map(|(score, value)| {
                let own =
                    if value.is_ok() { replicates.next().unwrap_or_default() } else { Vec::new() };
                entry(*score, value, own)
            });
            with_replicates.collect()
        }
    }
}

/// The values of some scores at the best temperature, without intervals.
pub(crate) fn calibrated_values(
    examples: &Examples,
    scores: &[&dyn Score<Examples>],
    scoring: &Scoring<'_>,
) -> Vec<Result<f64, Undefined>> {
    if scores.is_empty() {
        return Vec::new();
    }
    match cross_validated(examples, scores, scoring) {
        Ok((values, _)) => values,
        Err(why) => vec![Err(why); scores.len()],
    }
}

/// A value for each score, and the replicates of those that are defined.
type Values = (Vec<Result<f64, Undefined>>, Vec<Vec<f64>>);

/// Splits are worked through one after the other: what a half has cached goes with it.
fn cross_validated(
    examples: &Examples,
    wanted: &[&dyn Score<Examples>],
    scoring: &Scoring<'_>,
) -> Result<Values, Undefined> {
    let whole = temperature::fit(examples)?;
    let mut sums: Vec<Result<f64, Undefined>> = vec![Ok(0.0); wanted.len()];
    let mut first = None;
    for repeat in 0..REPEATS {
        let folds = split(examples, whole, &scoring.splits, repeat)?;
        for fold in &folds {
            for (sum, half) in sums.iter_mut().zip(prepare_fold(fold, wanted, scoring)) {
                *sum = match (sum.clone(), half) {
                    (Ok(sum), Ok((value, _))) => Ok(sum + value),
                    (Err(why), _) => Err(why),
                    (_, Err(Undefined(why))) => Err(Undefined(format!("on a random half, {why}"))),
                };
            }
        }
        if scoring.bootstrap.is_some() {
            first.get_or_insert(folds);
        }
        scoring.progress.advance(1);
    }
    let count = (2 * REPEATS) as f64;
    let values: Vec<_> = sums.into_iter().map(|sum| sum.map(|sum| sum / count)).collect();
    let replicates = match (&scoring.bootstrap, &first) {
        (Some(bootstrap), Some(folds)) => {
            fold_replicates(folds, wanted, &values, bootstrap, scoring)
        }
        _ => Vec::new(),
    };
    Ok((values, replicates))
}

fn prepare_fold<'a>(
    fold: &'a Fold,
    wanted: &[&dyn Score<Examples>],
    scoring: &Scoring<'_>,
) -> Vec<Valued<'a>> {
    let ones = vec![[1]; fold.examples.len()];
    let ones = Weights::new(&ones);
    wanted.iter().for_each(|score| score.before_sharing(&fold.examples, &scoring.options));
    let valued = |score: &&dyn Score<Examples>| {
        let prepared = score.prepare(&fold.examples, &scoring.options)?;
        Ok((prepared.value(&ones), prepared))
    };
    wanted.par_iter().map(valued).collect()
}

type Valued<'a> = Result<(f64, Box<dyn Prepared + 'a>), Undefined>;

fn fold_replicates(
    folds: &[Fold],
    wanted: &[&dyn Score<Examples>],
    values: &[Result<f64, Undefined>],
    bootstrap: &Bootstrap,
    scoring: &Scoring<'_>,
) -> Vec<Vec<f64>> {
    let prepared: Vec<Vec<Valued<'_>>> =
        folds.iter().map(|fold| prepare_fold(fold, wanted, scoring)).collect();
    let defined: Vec<usize> = (0..values.len()).filter(|&s| values[s].is_ok()).collect();
    // Each half on its own: a resample of the whole could leave a half without examples.
    let halves: Vec<usize> = folds.iter().map(|fold| fold.examples.len()).collect();
    scoring.progress.start("intervals", halves.len() * bootstrap.resamples.div_ceil(LANES));
    let mut replicates = bootstrap.map_blocks(&halves, |blocks| {
        let mut sums = vec![vec![[0.0; LANES]; defined.len()]; blocks.len()];
        let mut start = 0;
        for (&half, prepared) in halves.iter().zip(&prepared) {
            let own = start..start + half;
            start = own.end;
            let own = blocks.iter().map(|weights| weights.part(own.clone())).collect();
            // A score that has a value has one on every half.
            let valued = defined.iter().flat_map(|&s| &prepared[s]);
            let statistics: Vec<&(dyn Prepared + '_)> = valued.map(|(_, s)| &**s).collect();
            let lanes = replicates(&statistics, own, &|pieces| scoring.progress.advance(pieces));
            for (sum, lanes) in sums.iter_mut().flatten().zip(lanes.iter().flatten()) {
                for l in 0..LANES {
                    sum[l] += lanes[l] / folds.len() as f64;
                }
            }
        }
        sums
    });
    for (replicates, &s) in replicates.iter_mut().zip(&defined) {
        let of_split = prepared.iter().flat_map(|fold| fold[s].as_ref().map(|(value, _)| value));
        let of_split = of_split.sum::<f64>() / folds.len() as f64;
        let shift = values[s].as_ref().map_or(0.0, |value| value - of_split);
        // Moving must not carry a replicate out of the values that the score can take.
        let (low, high) = wanted[s].card().range;
        replicates.iter_mut().for_each(|r| *r = (*r + shift).clamp(low, high));
    }
    replicates
}
