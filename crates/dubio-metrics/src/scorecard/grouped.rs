//! `group.VALUE.NAME`, `worst_group.NAME`, `p10_group.NAME`: scores over groups of examples.

use dubio_progress::Silent;
use rayon::prelude::*;

use super::{Entry, Examined, Scoring, plain};
use crate::bootstrap::{Bootstrap, percentile};
use crate::card::{Card, Direction};
use crate::score::{Score, Undefined};

/// More groups than this are summarised instead of listed, and have no intervals: those are worked out
/// from every group's resamples, of which there would be more than examples.
pub const LISTED: usize = 100;

/// `group.VALUE.NAME` for every group, then `worst_group.NAME` and `p10_group.NAME`. Each group is
/// resampled on its own. Of more than [`LISTED`] groups `worst_group.NAME`, `p10_group.NAME` and
/// `median_group.NAME` are all there is.
pub fn grouped<E: Examined>(
    examples: &E,
    scores: &[Box<dyn Score<E>>],
    groups: &[i64],
    scoring: &Scoring<'_>,
) -> Vec<Entry> {
    let mut order: Vec<u32> = (0..groups.len() as u32).collect();
    order.sort_by_key(|&row| groups[row as usize]);
    let parts: Vec<&[u32]> =
        order.chunk_by(|&a, &b| groups[a as usize] == groups[b as usize]).collect();
    if parts.len() > LISTED {
        return summarised(examples, scores, &parts, scoring);
    }
    let value = |part: &[u32]| groups[part[0] as usize];
    let per_group: Vec<Vec<Entry>> = parts
        .iter()
        .map(|part| {
            let own = Scoring {
                options: scoring.options.clone(),
                bootstrap: scoring.bootstrap.as_ref().map(|b| Bootstrap {
                    resamples: b.resamples,
                    stream: b.stream.child("group").child(&value(part).to_string()),
                }),
                splits: scoring.splits.clone(),
                ..*scoring
            };
            plain(&examples.select(part), scores, &own)
        })
        .collect();
    let count = per_group.first().map_or(0, Vec::len);
    let over = |s: usize| -> Vec<&Entry> { per_group.iter().map(|group| &group[s]).collect() };
    let all = examples.count();
    let both = [("worst_group", worst as Summary), ("p10_group", tenth)];
    let summaries: Vec<Entry> = both
        .into_iter()
        .flat_map(|(kind, of)| (0..count).map(move |s| (kind, of, s)))
        .filter_map(|(kind, of, s)| summary(kind, &over(s), all, of))
        .collect();
    let mut entries: Vec<Entry> = Vec::new();
    for (part, group) in parts.iter().zip(per_group) {
        let named =
            |entry: Entry| Entry { name: format!("group.{}.{}", value(part), entry.name), ..entry };
        entries.extend(group.into_iter().map(named));
    }
    entries.extend(summaries);
    entries
}

/// Many groups: of each, only the values stay.
fn summarised<E: Examined>(
    examples: &E,
    scores: &[Box<dyn Score<E>>],
    parts: &[&[u32]],
    scoring: &Scoring<'_>,
) -> Vec<Entry> {
    scoring.progress.start("groups", parts.len());
    let wanted: Vec<(String, &'static Card)> = scores
        .iter()
        .map(|score| (score.name(), score.card()))
        .filter(|(name, _)| (scoring.wanted)(name))
        .collect();
    // Boxed: a vector collected from the entries would keep their capacity.
    let values_of = |part: &&[u32]| -> Box<[f64]> {
        let own = Scoring {
            options: scoring.options.clone(),
            bootstrap: None,
            splits: scoring.splits.clone(),
            wanted: scoring.wanted,
            progress: &Silent,
        };
        let entries = plain(&examples.select(part), scores, &own);
        scoring.progress.advance(1);
        entries.into_iter().map(|entry| entry.value.unwrap_or(f64::NAN)).collect()
    };
    let values: Vec<Box<[f64]>> = parts.par_iter().map(values_of).collect();
    let kinds = [("worst_group", worst as Summary), ("p10_group", tenth), ("median_group", median)];
    let summaries =
        kinds.into_iter().flat_map(|kind| wanted.iter().enumerate().map(move |own| (kind, own)));
    summaries
        .filter_map(|((kind, of), (s, (name, card)))| {
            let defined: Vec<f64> =
                values.iter().map(|group| group[s]).filter(|value| !value.is_nan()).collect();
            let value = over_groups(card, &defined, of)?;
            let name = format!("{kind}.{name}");
            let mut entry = Entry::new(name, card, examples.count(), value, Vec::new());
            entry.note = Some(match parts.len() - defined.len() {
                0 => format!("over {} groups", parts.len()),
                missing => format!("over {} groups, of which {missing} have no value", parts.len()),
            });
            Some(entry)
        })
        .collect()
}

/// One number made of a score's values over groups; `None` where a score of this kind has none.
type Summary = fn(&Card, &[f64]) -> Option<f64>;

/// The value furthest from good; `None` where neither end is better.
fn worst(card: &Card, values: &[f64]) -> Option<f64> {
    let badness = |v: &f64| card.direction.badness(*v);
    values.iter().copied().filter(|v| badness(v).is_some()).max_by(|a, b| {
        let (a, b) = (badness(a).unwrap_or_default(), badness(b).unwrap_or_default());
        a.total_cmp(&b)
    })
}

/// The 10th percentile from the bad end, by linear interpolation: the 90th where lower is better. Where 0
/// is best, it is the 90th of the distance from it, with the sign of the worse neighbour. `None` where
/// neither end is better.
fn tenth(card: &Card, values: &[f64]) -> Option<f64> {
    let pair = |v: &f64| Some((card.direction.badness(*v)?, *v));
    let mut sorted: Vec<(f64, f64)> = values.iter().map(pair).collect::<Option<_>>()?;
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let badness: Vec<f64> = sorted.iter().map(|(badness, _)| *badness).collect();
    let bad = percentile(&badness, 0.9);
    let (_, worse) = sorted[(0.9 * (sorted.len() - 1) as f64).ceil() as usize];
    Some(match card.direction {
        Direction::Higher => -bad,
        Direction::Zero => bad.copysign(worse),
        _ => bad,
    })
}

fn median(_: &Card, values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(percentile(&sorted, 0.5))
}

/// The summary of the groups that have a value; `None` where a score of this kind has none, whether
/// groups have values or not.
fn over_groups(card: &Card, defined: &[f64], of: Summary) -> Option<Result<f64, Undefined>> {
    of(card, &[0.0])?;
    match defined {
        [] => Some(Err(Undefined::because("no group has a value"))),
        values => of(card, values).map(Ok),
    }
}

/// The summary of a score's values over groups, and of every resample's values.
fn summary(kind: &str, groups: &[&Entry], n: usize, of: Summary) -> Option<Entry> {
    let card = groups.first()?.card;
    let defined: Vec<&&Entry> = groups.iter().filter(|entry| entry.value.is_ok()).collect();
    let values: Vec<f64> = defined.iter().flat_map(|e| e.value.clone()).collect();
    let value = over_groups(card, &values, of)?;
    let resamples = defined.iter().map(|entry| entry.replicates.len()).min().unwrap_or(0);
    let replicates = (0..resamples)
        .map(|r| {
            let values: Vec<f64> = defined.iter().map(|entry| entry.replicates[r]).collect();
            if values.iter().any(|v| v.is_nan()) { None } else { of(card, &values) }
        })
        .map(|value| value.unwrap_or(f64::NAN))
        .collect();
    let mut entry = Entry::new(format!("{kind}.{}", groups[0].name), card, n, value, replicates);
    let missing = groups.len() - defined.len();
    if missing > 0 && entry.value.is_ok() {
        entry.note = Some(format!("{missing} of {} groups have no value", groups.len()));
    }
    Some(entry)
}
