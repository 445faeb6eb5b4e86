//! The ranked score on every shifted test set.

use crate::chapter::Chapter;
use crate::table::{Rank, Table, by_method, score_column};
use crate::words::in_words;

/// A score of every split, method by method.
pub(crate) fn shifts(chapter: &Chapter<'_>, score: &str) -> Option<Table> {
    let splits: Vec<&str> =
        chapter.splits().into_iter().filter(|split| split.starts_with("shift.")).collect();
    let first = splits.first()?;
    let there = |name: &&str| chapter.scores(first).iter().any(|own| own.name == *name);
    let score = [score, "nll", "accuracy"].into_iter().find(there)?;
    let columns = splits
        .iter()
        .map(|split| {
            let (mut column, fields) = score_column(chapter, split, score);
            column.name = split.trim_start_matches("shift.").replace('.', " ");
            (column, fields)
        })
        .collect();
    let (columns, rows) = by_method(chapter, columns);
    Some(Table {
        id: "shifts".into(),
        caption: format!("{} on shifted test sets", in_words(score)),
        corner: "method",
        columns,
        rows,
        note: "Columns: the shift and its severity, 1 to 5.".into(),
        rank: Rank::Second,
    })
}
