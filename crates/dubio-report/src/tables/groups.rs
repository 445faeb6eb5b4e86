//! Scores of groups of examples.

use crate::chapter::Chapter;
use crate::table::{Column, Field, Rank, Table, by_method, score_column};
use crate::words::in_words;

const WANTED: [&str; 6] = ["accuracy", "nll", "ece", "rmse", "crps", "picp"];

/// A table for each of the usual scores: a row per method, a column per group.
pub(crate) fn groups(chapter: &Chapter<'_>) -> Vec<Table> {
    let names: Vec<&str> = chapter.scores("test").iter().map(|score| score.name).collect();
    let table = |score: &&str| {
        let columns: Vec<(Column, Vec<Field>)> = names
            .iter()
            .filter_map(|name| Some((name, heading(name, score)?)))
            .map(|(name, heading)| {
                let (column, fields) = score_column(chapter, "test", name);
                (Column { name: heading, ..column }, fields)
            })
            .collect();
        let (columns, rows) = by_method(chapter, columns);
        (!columns.is_empty()).then(|| Table {
            id: format!("groups-{score}"),
            caption: format!("{} by group", in_words(score)),
            corner: "method",
            columns,
            rows,
            note: note(chapter, score),
            rank: Rank::First,
        })
    };
    WANTED.iter().filter_map(table).collect()
}

/// How precise the numbers are.
fn note(chapter: &Chapter<'_>, score: &str) -> String {
    let summarised = format!("median_group.{score}");
    let mut entries = chapter.finished().filter_map(|(_, run)| run.entry("test", &summarised));
    match entries.next().and_then(|entry| entry.note.as_deref()) {
        Some(over) => format!("Summarised {over}: too many to list; without intervals."),
        None => {
            "Small groups have wide intervals: point at a number to see its interval.".to_string()
        }
    }
}

/// Heading of a column that holds this score of a group; `None` for any other column.
fn heading(name: &str, score: &str) -> Option<String> {
    match name.strip_suffix(score)?.strip_suffix('.')? {
        "worst_group" => Some("worst".to_string()),
        "p10_group" => Some("10th percentile from the worst".to_string()),
        "median_group" => Some("median".to_string()),
        other => {
            other.strip_prefix("group.").filter(|group| !group.contains('.')).map(str::to_string)
        }
    }
}
