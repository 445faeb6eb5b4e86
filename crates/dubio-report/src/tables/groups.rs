//! Scores of groups of examples.

use dubio_metrics::card::Direction;

use crate::chapter::Chapter;
use crate::table::{Column, Field, Line, Table, score_column};

const WANTED: [&str; 6] = ["accuracy", "nll", "ece", "rmse", "crps", "picp"];

/// A table for each of the usual scores: a row per method, a column per group.
pub(crate) fn groups(chapter: &Chapter<'_>) -> Vec<Table> {
    let names: Vec<&str> = chapter.scores("test").iter().map(|score| score.name).collect();
    let table = |score: &&str| {
        let own: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| {
                let rest = name.strip_prefix("group.").and_then(|rest| rest.split_once('.'));
                rest.is_some_and(|(_, plain)| plain == *score)
                    || *name == format!("worst_group.{score}")
                    || *name == format!("p10_group.{score}")
            })
            .collect();
        if own.is_empty() {
            return None;
        }
        let columns: Vec<(Column, Vec<Field>)> = own
            .iter()
            .map(|name| {
                let (mut column, fields) = score_column(chapter, "test", name);
                column.name = heading(name, score);
                column.direction = chapter.card(name).map_or(Direction::Neither, |c| c.direction);
                (column, fields)
            })
            .collect();
        let rows = chapter.methods.iter().enumerate().map(|(m, method)| Line {
            name: method.name.to_string(),
            style: Some(method.style),
            cells: columns.iter().map(|(_, fields)| fields[m].clone()).collect(),
        });
        Some(Table {
            id: format!("groups-{score}"),
            caption: format!("{score} by group"),
            corner: "method",
            rows: rows.collect(),
            columns: columns.into_iter().map(|(column, _)| column).collect(),
            note: "Small groups have wide intervals: look at how many examples a group has before believing \
                   the worst."
                .into(),
        })
    };
    WANTED.iter().filter_map(table).collect()
}

fn heading(name: &str, score: &str) -> String {
    let head = name.strip_suffix(score).unwrap_or(name).trim_end_matches('.');
    match head {
        "worst_group" => "worst".to_string(),
        "p10_group" => "10th percentile".to_string(),
        other => other.trim_start_matches("group.").to_string(),
    }
}
