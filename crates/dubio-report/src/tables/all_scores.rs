//! Every score of the test set, family by family.

use dubio_metrics::card::Direction;

use crate::chapter::Chapter;
use crate::refused::may_be_compared;
use crate::table::{Column, Field, Line, Rank, Table, by_method, score_column};

/// The first part of a score's name where it has several; empty for plain names.
fn family(name: &str) -> &str {
    name.split_once('.').map_or("", |(head, _)| head)
}

/// A table for each family of scores: methods by scores, or a scorecard where there is one method.
pub(crate) fn all_scores(chapter: &Chapter<'_>) -> Vec<Table> {
    let names: Vec<&str> = chapter
        .scores("test")
        .iter()
        .map(|score| score.name)
        .filter(|name| may_be_compared(chapter, name) && !family(name).ends_with("group"))
        .collect();
    let mut families: Vec<&str> = Vec::new();
    for name in &names {
        if !families.contains(&family(name)) {
            families.push(family(name));
        }
    }
    let table = |own: &&str| {
        let members: Vec<&str> =
            names.iter().copied().filter(|name| family(name) == *own).collect();
        let (id, caption) = match *own {
            "" => ("all-scores".to_string(), "All scores".to_string()),
            family => (format!("all-{family}"), caption(family)),
        };
        let (corner, columns, rows) = match chapter.methods.len() {
            1 => scorecard(chapter, &members),
            _ => {
                let columns = members.iter().map(|name| score_column(chapter, "test", name));
                let (columns, rows) = by_method(chapter, columns.collect());
                ("method", columns, rows)
            }
        };
        Table { id, caption, corner, columns, rows, note: String::new(), rank: Rank::Second }
    };
    families.iter().map(table).collect()
}

/// What the scores of a family are about.
fn caption(family: &str) -> String {
    match family {
        "calibrated" => "All scores after temperature scaling".to_string(),
        "misclassification" => "Error detection".to_string(),
        "ood" => "Detection of out-of-distribution inputs".to_string(),
        "uncertainty" => "Mean uncertainty, in nats".to_string(),
        "composite" => "Composite scores".to_string(),
        other => format!("{other}.*"),
    }
}

/// A row per score of the only method: value, interval, what it is.
pub(super) fn scorecard(
    chapter: &Chapter<'_>,
    names: &[&str],
) -> (&'static str, Vec<Column>, Vec<Line>) {
    let column = |name: &str| Column {
        name: name.to_string(),
        direction: Direction::Neither,
        summary: String::new(),
    };
    let row = |name: &&str| {
        let (head, mut fields) = score_column(chapter, "test", name);
        let field = fields.remove(0);
        let end = |pick: fn((f64, f64)) -> f64| match &field {
            Field::Number(number) => match number.interval {
                Some(ends) => Field::plain(pick(ends), number.places),
                None => Field::Missing("no interval".into()),
            },
            _ => Field::Missing(String::new()),
        };
        let (lo, hi) = (end(|ends| ends.0), end(|ends| ends.1));
        let why = match &field {
            Field::Missing(why) if !why.is_empty() => format!("No value: {why}."),
            _ => head.summary,
        };
        Line {
            name: format!("{name} {}", head.direction.arrow()).trim_end().to_string(),
            style: None,
            cells: vec![field, lo, hi, Field::Text(why)],
        }
    };
    let columns = ["value", "95 % from", "to", "definition"].map(column).to_vec();
    ("score", columns, names.iter().map(row).collect())
}
