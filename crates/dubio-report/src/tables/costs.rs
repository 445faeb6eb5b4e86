//! What the methods cost.

use dubio_metrics::card::Direction;

use crate::chapter::Chapter;
use crate::figures::{KINDS, amount};
use crate::number::places;
use crate::table::{Column, Field, Rank, Table, by_method};

/// Every kind of cost, method by method.
pub(crate) fn costs(chapter: &Chapter<'_>) -> Option<Table> {
    let columns: Vec<(Column, Vec<Field>)> = KINDS
        .iter()
        .filter(|kind| chapter.methods.iter().any(|method| amount(method, kind).is_some()))
        .map(|kind| {
            let column = Column {
                name: kind.label.to_string(),
                direction: Direction::Lower,
                summary: String::new(),
            };
            let field = |amount: Option<f64>| match amount {
                Some(amount) => Field::plain(amount, places(amount, 3)),
                None => Field::Missing("not measured".into()),
            };
            (column, chapter.methods.iter().map(|method| field(amount(method, kind))).collect())
        })
        .collect();
    if columns.is_empty() {
        return None;
    }
    let (columns, rows) = by_method(chapter, columns);
    Some(Table {
        id: "costs".into(),
        caption: "What the methods cost".into(),
        corner: "method",
        columns,
        rows,
        note: "Means over runs.".into(),
        rank: Rank::Second,
    })
}
