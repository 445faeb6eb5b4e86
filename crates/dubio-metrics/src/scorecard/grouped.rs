//! `group.VALUE.NAME`, `worst_group.NAME`, `p10_group.NAME`: scores over groups of examples.

use super::{Entry, Examined, Scoring, plain};
use crate::bootstrap::{Bootstrap, percentile};
use crate::card::{Card, Direction};
use crate::score::{Score, Undefined};

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
    // Where neither end is better there is no worst, whether groups have values or not.
    let judged = |s: &usize| per_group[0][*s].card.direction != Direction::Neither;
    let mut summaries: Vec<Entry> = (0..count)
        .filter(judged)
        .flat_map(|s| summary("worst_group", &over(s), all, worst))
        .collect();
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
