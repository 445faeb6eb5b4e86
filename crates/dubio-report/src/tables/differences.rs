//! How far each method is behind the first.

use dubio_metrics::card::Direction;

use crate::number::{interval_places, places};
use crate::ranking::Ranking;
use crate::table::{Column, Field, Line, Rank, Table};
use crate::words::in_words;

/// Paired differences from the first method of the ranking, with intervals.
pub(crate) fn differences(ranking: &Ranking<'_>) -> Option<Table> {
    let (first, rest) = ranking.standings.split_first()?;
    if rest.is_empty() {
        return None;
    }
    let heads = ["difference", "95 % from", "to", "p (Holm)", "more than chance"];
    let rows = rest.iter().map(|standing| {
        let cells = match standing.behind {
            None => vec![Field::Missing("no run is shared".into()); heads.len()],
            Some(behind) => {
                let places = behind
                    .interval
                    .map_or(places(behind.value, 3), |(lo, hi)| interval_places(lo, hi));
                let end = |value: Option<f64>| match value {
                    Some(value) => Field::plain(value, places),
                    None => Field::Missing("no interval".into()),
                };
                let (lo, hi) = behind.interval.unzip();
                let apart = if behind.may_be_chance() { "no" } else { "yes" };
                vec![
                    Field::plain(behind.value, places),
                    end(lo),
                    end(hi),
                    behind.p.map_or(Field::Missing("no p-value".into()), small),
                    Field::Text(apart.into()),
                ]
            }
        };
        Line { name: standing.method.name.to_string(), style: Some(standing.method.style), cells }
    });
    let column = |name: &str| Column {
        name: name.to_string(),
        direction: Direction::Neither,
        summary: String::new(),
    };
    Some(Table {
        id: "differences".into(),
        caption: format!("Difference from {} in {}", first.method.name, in_words(ranking.score)),
        corner: "method",
        columns: heads.map(column).to_vec(),
        rows: rows.collect(),
        note: format!(
            "Positive: worse than {}. Paired bootstrap over examples and over the runs that both have.{}",
            first.method.name,
            match rest.len() {
                1 => String::new(),
                n => format!(
                    " The p-values are corrected for all {} pairs of methods by Holm's method; the intervals are not.",
                    n * (n + 1) / 2
                ),
            }
        ),
        rank: Rank::Second,
    })
}

/// A p-value: two digits, three where it is small.
fn small(p: f64) -> Field {
    match p {
        p if p < 0.001 => Field::Text("< 0.001".into()),
        p if p < 0.01 => Field::plain(p, 3),
        p => Field::plain(p, 2),
    }
}
