//! How many posterior predictive checks each method passes.

use dubio_metrics::card::Direction;
use dubio_metrics::check::{Mode, Summary};

use crate::chapter::{Chapter, Method};
use crate::figures::reading;
use crate::table::{Column, Field, Rank, Table, by_method};

/// Which checks a table shows.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind<'a> {
    split: &'a str,
    mode: Mode,
}

/// Checks passed, statistic by statistic: a table for each kind of inputs and reading of the members.
pub(crate) fn checks(chapter: &Chapter<'_>) -> Vec<Table> {
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    let mut statistics: Vec<&str> = Vec::new();
    for check in chapter.finished().flat_map(|(_, finished)| &finished.checks) {
        let kind = Kind { split: &check.split, mode: check.mode };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
        if !statistics.contains(&&check.summary.statistic[..]) {
            statistics.push(&check.summary.statistic);
        }
    }
    kinds.iter().map(|kind| table(chapter, *kind, &statistics)).collect()
}

fn table(chapter: &Chapter<'_>, kind: Kind<'_>, statistics: &[&str]) -> Table {
    let column = |name: &str| Column {
        name: name.to_string(),
        direction: Direction::Neither,
        summary: String::new(),
    };
    let mut columns: Vec<(Column, Vec<Field>)> = statistics
        .iter()
        .map(|statistic| {
            let fields = chapter.methods.iter().map(|method| verdict(method, kind, statistic));
            (column(statistic), fields.collect())
        })
        .collect();
    let all = chapter.methods.iter().map(|method| passed(method, kind, statistics)).collect();
    columns.push((column("passed"), all));
    let (columns, rows) = by_method(chapter, columns);
    let first = kind == Kind { split: "test", mode: Mode::Bayesian };
    Table {
        id: format!("checks-{}-{:?}", kind.split.replace('.', "-"), kind.mode).to_lowercase(),
        caption: format!(
            "Posterior predictive checks, {} ({})",
            kind.split,
            reading(kind.mode)
        ),
        corner: "method",
        columns,
        rows,
        note: "Labels are drawn from the model and scored as the true ones are. A check passes if the observed score lies \
               inside the central 95 % of the simulated scores (rule interval); p is the two-sided p-value by rank."
            .into(),
        rank: if first { Rank::First } else { Rank::Second },
    }
}

/// The checks of a kind on some statistics, of all runs.
fn checked<'a>(
    method: &Method<'a>,
    kind: Kind<'a>,
    statistics: &'a [&str],
) -> impl Iterator<Item = &'a Summary> {
    let checks = method.finished().flat_map(|(_, finished)| &finished.checks);
    checks
        .filter(move |check| (Kind { split: &check.split, mode: check.mode }) == kind)
        .map(|check| &check.summary)
        .filter(|summary| statistics.contains(&&summary.statistic[..]))
}

fn verdict(method: &Method<'_>, kind: Kind<'_>, statistic: &str) -> Field {
    let statistics = [statistic];
    let all: Vec<&Summary> = checked(method, kind, &statistics).collect();
    match &all[..] {
        [] => Field::Missing(String::new()),
        [Summary { passes: Some(passes), p_two_sided: Some(p), .. }] => {
            let p = if *p < 0.01 { format!("p = {p:.3}") } else { format!("p = {p:.2}") };
            Field::Text(format!("{}, {p}", if *passes { "passes" } else { "fails" }))
        }
        [one] => Field::Missing(one.why.clone().unwrap_or_default()),
        several => count(several),
    }
}

fn passed(method: &Method<'_>, kind: Kind<'_>, statistics: &[&str]) -> Field {
    let all: Vec<&Summary> = checked(method, kind, statistics).collect();
    count(&all)
}

fn count(checks: &[&Summary]) -> Field {
    let verdicts: Vec<bool> = checks.iter().filter_map(|check| check.passes).collect();
    match verdicts.len() {
        0 => Field::Missing("no check".into()),
        n => Field::Text(format!("{} of {n}", verdicts.iter().filter(|passes| **passes).count())),
    }
}
