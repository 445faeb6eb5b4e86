//! How many posterior predictive checks each method passes.

use dubio_metrics::card::Direction;

use crate::chapter::{Chapter, Method};
use crate::table::{Column, Field, Rank, Table, by_method};

/// Checks passed, statistic by statistic.
pub(crate) fn checks(chapter: &Chapter<'_>) -> Option<Table> {
    let mut statistics: Vec<&str> = Vec::new();
    for check in chapter.finished().flat_map(|(_, finished)| &finished.checks) {
        if !statistics.contains(&&check.statistic[..]) {
            statistics.push(&check.statistic);
        }
    }
    if statistics.is_empty() {
        return None;
    }
    let column = |name: &str, summary: &str| Column {
        name: name.to_string(),
        direction: Direction::Neither,
        summary: summary.to_string(),
    };
    let mut columns: Vec<(Column, Vec<Field>)> = statistics
        .iter()
        .map(|statistic| {
            let fields = chapter.methods.iter().map(|method| verdict(method, statistic));
            (column(statistic, ""), fields.collect())
        })
        .collect();
    let all = chapter.methods.iter().map(|method| passed(method, &statistics)).collect();
    columns.push((column("all together", "Checks passed by all runs"), all));
    let (columns, rows) = by_method(chapter, columns);
    Some(Table {
        id: "checks".into(),
        caption: "Posterior predictive checks passed".into(),
        corner: "method",
        columns,
        rows,
        note: "A check fails when the score on the true labels lies outside everything the model expects of itself. \
               p is the share of what it expects that lies below."
            .into(),
        rank: Rank::First,
    })
}

/// The verdicts of a method's runs on these statistics.
fn verdicts<'a>(method: &'a Method<'_>, statistics: &'a [&str]) -> impl Iterator<Item = bool> + 'a {
    let checks = method.finished().flat_map(|(_, finished)| &finished.checks);
    checks
        .filter(|check| statistics.contains(&&check.statistic[..]))
        .filter_map(|check| check.passes)
}

fn verdict(method: &Method<'_>, statistic: &str) -> Field {
    let mut checks = method.finished().flat_map(|(_, finished)| &finished.checks);
    let Some(first) = checks.find(|check| check.statistic == statistic) else {
        return Field::Missing(String::new());
    };
    let all: Vec<bool> = verdicts(method, &[statistic]).collect();
    match (&all[..], first.p_value) {
        ([], _) => Field::Missing(first.why.clone().unwrap_or_default()),
        ([one], Some(p)) => {
            Field::Text(format!("{}, p = {p:.2}", if *one { "passes" } else { "fails" }))
        }
        _ => Field::Text(format!("{} of {}", all.iter().filter(|p| **p).count(), all.len())),
    }
}

fn passed(method: &Method<'_>, statistics: &[&str]) -> Field {
    let all: Vec<bool> = verdicts(method, statistics).collect();
    match all.len() {
        0 => Field::Missing("no check".into()),
        n => Field::Text(format!("{} of {n}", all.iter().filter(|p| **p).count())),
    }
}
