//! How far each method is behind the first.

use dubio_metrics::card::Direction;

use crate::number::places;
use crate::ranking::Ranking;
use crate::table::{Column, Field, Line, Rank, Table};

/// Paired differences from the first method of the ranking, with intervals.
pub(crate) fn differences(ranking: &Ranking<'_>) -> Option<Table> {
    let (first, rest) = ranking.standings.split_first()?;
    if rest.is_empty() {
        return None;
    }
    let typical = rest.iter().filter_map(|s| s.behind).map(|d| d.value.abs());
    let typical = typical.filter(|v| v.is_finite()).fold(0.0, f64::max);
    let places = places(typical, 3);
    let heads = ["difference", "from", "to", "by more than chance"];
    let rows = rest.iter().map(|standing| {
        let cells = match standing.behind {
            None => vec![Field::Missing("no run is shared".into()); heads.len()],
            Some(behind) => {
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
        caption: format!("How much worse than {} by {}", first.method.name, ranking.score),
        corner: "method",
        columns: heads.map(column).to_vec(),
        rows: rows.collect(),
        note: "Over the runs that both have, on the same resampled examples, with the runs drawn anew each time.".into(),
        rank: Rank::Second,
    })
}
