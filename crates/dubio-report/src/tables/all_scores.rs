//! Every score of the test part, family by family.

use crate::chapter::Chapter;
use crate::refused::may_be_compared;
use crate::table::{Table, by_method, score_column};

/// The first part of a score's name where it has several, for plain ones nothing.
fn family(name: &str) -> &str {
    match name.split_once('.') {
        Some((head, _)) => head,
        None => "",
    }
}

/// A table for each family of scores.
pub(crate) fn all_scores(chapter: &Chapter<'_>) -> Vec<Table> {
    let names: Vec<&str> = chapter
        .scores("test")
        .iter()
        .map(|score| score.name)
        .filter(|name| may_be_compared(chapter, name) && family(name) != "group")
        .collect();
    let mut families: Vec<&str> = Vec::new();
    for name in &names {
        if !families.contains(&family(name)) {
            families.push(family(name));
        }
    }
    let table = |own: &&str| {
        let members = names.iter().filter(|name| family(name) == *own);
        let columns = members.map(|name| score_column(chapter, "test", name)).collect();
        let (columns, rows) = by_method(chapter, columns);
        let (id, caption) = match *own {
            "" => ("all-scores".to_string(), "Every plain score".to_string()),
            family => (format!("all-{family}"), format!("Every score of the family {family}")),
        };
        Table { id, caption, corner: "method", columns, rows, note: String::new() }
    };
    families.iter().map(table).collect()
}
