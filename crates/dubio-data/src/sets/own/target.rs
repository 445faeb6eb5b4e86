//! The target of a table: classes or numbers.

use std::collections::BTreeMap;

use super::columns::{Columns, Content, tally};
use super::mistakes::Mistakes;
use super::options::Own;
use super::whole::Seen;
use crate::dataset::Answers;

/// Whole numbers with at most this many different values, and at most half as many as rows, are classes,
/// unless the task is given.
const FEW: usize = 20;

pub(super) fn answers(
    own: &Own,
    table: &Columns<'_>,
    column: usize,
    seen: &mut Seen,
    mistakes: &mut Mistakes,
) -> Answers {
    let said = own.get("task");
    let content = table.content(column, said == Some("classification"), mistakes);
    let counts = tally(table.cells(column));
    let whole = counts.keys().all(|cell| cell.parse().is_ok_and(|v: f64| v.fract() == 0.0));
    let few = whole && counts.len() <= FEW && 2 * counts.len() <= table.rows.len();
    seen.target = table.names[column].clone();
    let values = match content {
        Content::Numbers(values) => values,
        Content::Categories(..) if said == Some("regression") => {
            let what = format!("the target `{}` is text, but task=regression", seen.target);
            mistakes.add(1, column + 1, what, "give another target, or task=classification");
            return Answers::Targets(Vec::new());
        }
        Content::Categories(..) => {
            let why = if said.is_some() { "as asked" } else { "the target is text" };
            return classes(table, column, &counts, why, seen);
        }
    };
    match (said, few) {
        (Some("classification"), _) => classes(table, column, &counts, "as asked", seen),
        (None, true) => {
            let why = format!("the target has {} different whole numbers", counts.len());
            classes(table, column, &counts, &why, seen)
        }
        _ => {
            let why = if said.is_some() { "as asked" } else { "the target is a number" };
            seen.task = format!("regression: {why}");
            Answers::Targets(values)
        }
    }
}

/// Classes in the order of their names; numbers in the order of their values.
fn classes(
    table: &Columns<'_>,
    column: usize,
    counts: &BTreeMap<&str, usize>,
    why: &str,
    seen: &mut Seen,
) -> Answers {
    let mut names: Vec<&str> = counts.keys().copied().collect();
    let number = |name: &str| name.parse().unwrap_or(f64::INFINITY);
    names.sort_by(|a, b| number(a).total_cmp(&number(b)));
    let label: BTreeMap<&str, u32> = names.iter().copied().zip(0..).collect();
    let labels = table.cells(column).map(|cell| label.get(cell).copied().unwrap_or(0)).collect();
    seen.task = format!("classification: {why}");
    seen.classes = names.iter().map(|name| name.to_string()).collect();
    Answers::Classes { classes: names.len(), labels }
}
