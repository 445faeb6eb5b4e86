//! `calibrated.NAME`: scores at the best temperature, by test-time cross-validation.

use rayon::prelude::*;

use super::{Entry, Scoring};
use crate::bootstrap::Bootstrap;
use crate::calibrate::cross_validation::{REPEATS, Split};
use crate::calibrate::temperature;
use crate::examples::Examples;
use crate::score::{Prepared, Score, Undefined};
use crate::weights::{LANES, Weights};

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
        .filter(|s| s.card().facts.calibrated && (scoring.wanted)(&name(*s)))
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

/// Halves are worked through one after the other: what a half has cached is then dropped with it.
fn cross_validated(
    examples: &Examples,
    wanted: &[&dyn Score<Examples>],
    scoring: &Scoring<'_>,
) -> Result<Values, Undefined> {
    let whole = temperature::fit(examples)?;
    let mut sums: Vec<Result<f64, Undefined>> = vec![Ok(0.0); wanted.len()];
    let mut resampled = Vec::new();
    for repeat in 0..REPEATS {
        let split = Split::new(examples, &whole, &scoring.splits, repeat)?;
        for half in 0..2 {
            let examples = split.half(examples, half);
            let prepared = prepare_half(&examples, wanted, scoring);
            for (sum, half) in sums.iter_mut().zip(&prepared) {
                *sum = match (sum.clone(), half) {
                    (Ok(sum), Ok((value, _))) => Ok(sum + value),
                    (Err(why), _) => Err(why),
                    (_, Err(Undefined(why))) => Err(Undefined(format!("in one fold, {why}"))),
                };
            }
            if let (Some(bootstrap), 0) = (&scoring.bootstrap, repeat) {
                resampled.push(half_replicates(half, examples.len(), prepared, bootstrap, scoring));
            }
        }
        scoring.progress.advance(1);
    }
    let count = (2 * REPEATS) as f64;
    let values: Vec<_> = sums.into_iter().map(|sum| sum.map(|sum| sum / count)).collect();
    let replicates = join(&resampled, wanted, &values);
    Ok((values, replicates))
}

type Valued<'a> = Result<(f64, Box<dyn Prepared + 'a>), Undefined>;

fn prepare_half<'a>(
    examples: &'a Examples,
    wanted: &[&dyn Score<Examples>],
    scoring: &Scoring<'_>,
) -> Vec<Valued<'a>> {
    let ones = vec![[1]; examples.len()];
    let ones = Weights::new(&ones);
    wanted.iter().for_each(|score| score.before_sharing(examples, &scoring.options));
    let valued = |score: &&dyn Score<Examples>| {
        let prepared = score.prepare(examples, &scoring.options)?;
        Ok((prepared.value(&ones), prepared))
    };
    wanted.par_iter().map(valued).collect()
}

/// A score's value on a half, and its replicates there; `None` where it has none.
type Resampled = Vec<Option<(f64, Vec<f64>)>>;

/// Each half is resampled on its own: a resample of the whole could leave a half without examples.
fn half_replicates(
    half: usize,
    size: usize,
    prepared: Vec<Valued<'_>>,
    bootstrap: &Bootstrap,
    scoring: &Scoring<'_>,
) -> Resampled {
    let own = Bootstrap { stream: bootstrap.stream.child("half").nth(half), ..bootstrap.clone() };
    let statistics: Vec<&(dyn Prepared + '_)> =
        prepared.iter().flatten().map(|(_, statistic)| &**statistic).collect();
    scoring.progress.start("intervals", bootstrap.resamples.div_ceil(LANES));
    let advance = |pieces| scoring.progress.advance(pieces);
    let mut replicates = own.replicates(&[size], &statistics, &advance).into_iter();
    let with_own = |valued: &Valued<'_>| {
        let (value, _) = valued.as_ref().ok()?;
        Some((*value, replicates.next().unwrap_or_default()))
    };
    prepared.iter().map(with_own).collect()
}

/// The means over the halves of the replicates of scores with a value, moved to that value.
fn join(
    halves: &[Resampled],
    wanted: &[&dyn Score<Examples>],
    values: &[Result<f64, Undefined>],
) -> Vec<Vec<f64>> {
    let of_score = |(s, value): (usize, &Result<f64, Undefined>)| {
        let value = value.as_ref().ok()?;
        // A score that has a value has one on every half.
        let own: Vec<&(f64, Vec<f64>)> =
            halves.iter().filter_map(|half| half[s].as_ref()).collect();
        let weight = 1.0 / own.len() as f64;
        let shift = value - weight * own.iter().map(|half| half.0).sum::<f64>();
        // Moving must not carry a replicate out of the values that the score can take.
        let (low, high) = wanted[s].card().range;
        let count = own.first().map_or(0, |half| half.1.len());
        let mean = |r: usize| weight * own.iter().map(|half| half.1[r]).sum::<f64>();
        Some((0..count).map(|r| (mean(r) + shift).clamp(low, high)).collect())
    };
    values.iter().enumerate().filter_map(of_score).collect()
}
