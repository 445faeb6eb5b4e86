//! All scores of a file, each with its interval or the reason why it has no value.

use rayon::prelude::*;

use crate::bootstrap::{Bootstrap, interval, percentile};
use crate::calibrate::cross_validation::{Fold, REPEATS, split};
use crate::calibrate::temperature;
use crate::card::Card;
use crate::detection::ood::{self, Uncertainties};
use crate::detection::{Measure, Signal};
use crate::examples::Examples;
use crate::score::{LANES, Options, Prepared, Score, Undefined};
use crate::stream::Stream;

/// One line of a scorecard.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Public name.
    pub name: String,
    /// What the score says of itself.
    pub card: &'static Card,
    /// Number of examples it is made of.
    pub n: usize,
    /// The value, or why there is none.
    pub value: Result<f64, Undefined>,
    /// What a reader has to know besides the value.
    pub note: Option<String>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Values of the resamples, empty without a bootstrap.
    pub replicates: Vec<f64>,
}

/// Whoever wants to know how far the work has come.
pub trait Progress: Sync {
    /// A stage of `total` pieces begins.
    fn start(&self, stage: &'static str, total: usize);
    /// So many more pieces are done.
    fn advance(&self, pieces: usize);
}

/// Nobody.
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _: &'static str, _: usize) {}
    fn advance(&self, _: usize) {}
}

/// How to score: settings, resampling, and which names are wanted.
pub struct Scoring<'a> {
    /// Settings of the scores.
    pub options: Options,
    /// How to resample; `None` for no intervals.
    pub bootstrap: Option<Bootstrap>,
    /// Splits of the cross-validation come from here.
    pub splits: Stream,
    /// Whether a score is wanted.
    pub wanted: &'a (dyn Fn(&str) -> bool + Sync),
    /// Who is told how far the work has come.
    pub progress: &'a dyn Progress,
}

/// Anything with examples to count.
pub trait Examined: Sync {
    /// Number of examples.
    fn count(&self) -> usize;
    /// The examples with these indices.
    fn select(&self, rows: &[u32]) -> Self;
    /// What to add to an infinite value.
    fn infinite_because(&self) -> String;
}

impl Examined for Examples {
    fn count(&self) -> usize {
        self.len()
    }
    fn select(&self, rows: &[u32]) -> Self {
        self.subset(rows)
    }
    fn infinite_because(&self) -> String {
        format!("{} of {} examples give their label probability 0", self.impossible(), self.len())
    }
}

impl Examined for crate::regression::Outcomes {
    fn count(&self) -> usize {
        self.len()
    }
    fn select(&self, rows: &[u32]) -> Self {
        self.subset(rows)
    }
    fn infinite_because(&self) -> String {
        "some target is infinitely unlikely".to_string()
    }
}

/// Scores the examples as they are.
pub fn plain<E: Examined>(
    examples: &E,
    scores: &[Box<dyn Score<E>>],
    scoring: &Scoring<'_>,
) -> Vec<Entry> {
    let wanted: Vec<&dyn Score<E>> =
        scores.iter().map(|s| &**s).filter(|s| (scoring.wanted)(&s.name())).collect();
    scoring.progress.start("scores", wanted.len());
    let ones = vec![[1]; examples.count()];
    wanted.iter().for_each(|score| score.before_sharing(examples, &scoring.options));
    let prepared: Vec<_> = wanted
        .par_iter()
        .map(|score| {
            let prepared = score.prepare(examples, &scoring.options);
            let valued = prepared.map(|p| (p.value(&ones), p));
            scoring.progress.advance(1);
            valued
        })
        .collect();
    let defined: Vec<&(dyn Prepared + '_)> =
        prepared.iter().flatten().map(|(_, p)| &**p as &(dyn Prepared + '_)).collect();
    let mut replicates = resample(scoring, &[examples.count()], &defined).into_iter();
    let entries = wanted.iter().zip(&prepared).map(|(score, prepared)| {
        let replicates =
            if prepared.is_ok() { replicates.next().unwrap_or_default() } else { Vec::new() };
        let value = prepared.as_ref().map(|(value, _)| *value).map_err(Clone::clone);
        let mut entry = Entry::new(score.name(), score.card(), examples.count(), value, replicates);
        if entry.value == Ok(f64::INFINITY) {
            entry.note = Some(examples.infinite_because());
        }
        entry
    });
    entries.collect()
}

fn resample(
    scoring: &Scoring<'_>,
    strata: &[usize],
    statistics: &[&(dyn Prepared + '_)],
) -> Vec<Vec<f64>> {
    let Some(bootstrap) = &scoring.bootstrap else { return Vec::new() };
    statistics.iter().for_each(|statistic| statistic.before_sharing());
    scoring.progress.start("intervals", bootstrap.resamples.div_ceil(LANES));
    bootstrap.replicates(strata, statistics, &|pieces| scoring.progress.advance(pieces))
}

impl Entry {
    fn new(
        name: String,
        card: &'static Card,
        n: usize,
        value: Result<f64, Undefined>,
        replicates: Vec<f64>,
    ) -> Self {
        let value = match value {
            Ok(value) if value.is_nan() => Err(Undefined::because("the value is not a number")),
            value => value,
        };
        let bounds = if value.is_ok() { interval(&replicates) } else { None };
        let interval = bounds.filter(|(lo, hi)| lo.is_finite() && hi.is_finite());
        Self { name, card, n, value, note: None, interval, replicates }
    }
}

/// Whether a score has a calibrated form. Not so what is about the temperature itself, about other
/// predictions, or about members: the temperature belongs to their mean.
fn has_calibrated_form(name: &str) -> bool {
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
        first.get_or_insert(folds);
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
    for fold in &prepared {
        fold.iter().flatten().for_each(|(_, statistic)| statistic.before_sharing());
    }
    scoring.progress.start("intervals", bootstrap.resamples.div_ceil(LANES));
    let mut replicates =
        bootstrap.map_blocks(&halves, &|pieces| scoring.progress.advance(pieces), |weights| {
            let mut sums = vec![[0.0; LANES]; defined.len()];
            let mut weights = &weights[..];
            for (&half, prepared) in halves.iter().zip(&prepared) {
                let (own, others) = weights.split_at(half);
                weights = others;
                for (sum, &s) in sums.iter_mut().zip(&defined) {
                    let Ok((_, statistic)) = &prepared[s] else { continue };
                    let lanes = statistic.replicates(own);
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

/// `ood.NAME.*`: how well uncertainty tells another set from this one. Both are resampled.
pub fn ood(
    set: &str,
    inside: &Uncertainties,
    outside: &Uncertainties,
    scoring: &Scoring<'_>,
) -> Vec<Entry> {
    let kind = format!("ood.{set}");
    let all = Signal::ALL.into_iter().flat_map(|s| Measure::ALL.map(|m| (m, s)));
    let wanted: Vec<(Measure, Signal)> =
        all.filter(|(measure, signal)| (scoring.wanted)(&measure.name(&kind, *signal))).collect();
    let count = inside.len() + outside.len();
    let ones = vec![[1]; count];
    let prepared: Vec<_> =
        wanted.par_iter().map(|(m, s)| ood::prepare(*m, *s, inside, outside)).collect();
    let defined: Vec<&(dyn Prepared + '_)> =
        prepared.iter().flatten().map(|p| &**p as &(dyn Prepared + '_)).collect();
    let mut replicates = resample(scoring, &[inside.len(), outside.len()], &defined).into_iter();
    let entries = wanted.iter().zip(&prepared).map(|((measure, signal), prepared)| {
        let replicates =
            if prepared.is_ok() { replicates.next().unwrap_or_default() } else { Vec::new() };
        let value = prepared.as_ref().map(|p| p.value(&ones)).map_err(Clone::clone);
        Entry::new(measure.name(&kind, *signal), measure.card(), count, value, replicates)
    });
    entries.collect()
}

/// `group.VALUE.NAME` for every group, then `worst_group.NAME` and `p10_group.NAME`. Each group is
/// resampled on its own.
pub fn grouped<E: Examined>(
    examples: &E,
    scores: &[Box<dyn Score<E>>],
    groups: &[i64],
    scoring: &Scoring<'_>,
) -> Vec<Entry> {
    let mut values = groups.to_vec();
    values.sort_unstable();
    values.dedup();
    let per_group: Vec<Vec<Entry>> = values
        .iter()
        .map(|&value| {
            let rows: Vec<u32> =
                (0..groups.len() as u32).filter(|&i| groups[i as usize] == value).collect();
            let own = Scoring {
                options: scoring.options.clone(),
                bootstrap: scoring.bootstrap.as_ref().map(|b| Bootstrap {
                    resamples: b.resamples,
                    stream: b.stream.child("group").child(&value.to_string()),
                }),
                splits: scoring.splits.clone(),
                ..*scoring
            };
            plain(&examples.select(&rows), scores, &own)
        })
        .collect();
    let mut entries: Vec<Entry> = Vec::new();
    let count = per_group.first().map_or(0, Vec::len);
    let over = |s: usize| -> Vec<&Entry> { per_group.iter().map(|group| &group[s]).collect() };
    let tenth = |_: &Card, values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(percentile(&sorted, 0.1))
    };
    let all = examples.count();
    let mut summaries: Vec<Entry> =
        (0..count).flat_map(|s| summary("worst_group", &over(s), all, worst)).collect();
    summaries.extend((0..count).flat_map(|s| summary("p10_group", &over(s), all, tenth)));
    for (value, group) in values.iter().zip(per_group) {
        entries.extend(
            group
                .into_iter()
                .map(|entry| Entry { name: format!("group.{value}.{}", entry.name), ..entry }),
        );
    }
    entries.extend(summaries);
    entries
}

/// The value furthest from good; `None` where neither end is better.
fn worst(card: &Card, values: &[f64]) -> Option<f64> {
    let badness = |v: &f64| card.direction.badness(*v);
    values.iter().copied().filter(|v| badness(v).is_some()).max_by(|a, b| {
        let (a, b) = (badness(a).unwrap_or_default(), badness(b).unwrap_or_default());
        a.total_cmp(&b)
    })
}

/// One number made of a score's values over groups, and of every resample's values.
fn summary(
    kind: &str,
    groups: &[&Entry],
    n: usize,
    f: impl Fn(&Card, &[f64]) -> Option<f64>,
) -> Option<Entry> {
    let card = groups.first()?.card;
    let defined: Vec<&&Entry> = groups.iter().filter(|entry| entry.value.is_ok()).collect();
    let values: Vec<f64> = defined.iter().flat_map(|e| e.value.clone()).collect();
    let name = format!("{kind}.{}", groups[0].name);
    if values.is_empty() {
        let why = Undefined::because("no group has a value");
        return Some(Entry::new(name, card, n, Err(why), Vec::new()));
    }
    let value = f(card, &values)?;
    let resamples = defined.iter().map(|entry| entry.replicates.len()).min().unwrap_or(0);
    let replicates = (0..resamples)
        .map(|r| {
            let values: Vec<f64> = defined.iter().map(|entry| entry.replicates[r]).collect();
            if values.iter().any(|v| v.is_nan()) { None } else { f(card, &values) }
        })
        .map(|value| value.unwrap_or(f64::NAN))
        .collect();
    let mut entry = Entry::new(name, card, n, Ok(value), replicates);
    let missing = groups.len() - defined.len();
    if missing > 0 {
        entry.note = Some(format!("{missing} of {} groups have no value", groups.len()));
    }
    Some(entry)
}
