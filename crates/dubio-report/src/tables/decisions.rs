//! What decisions cost.

use crate::chapter::Chapter;
use crate::table::{Rank, Table, by_method, score_column};

/// Costs of the decisions that the predictions lead to.
pub(crate) fn decisions(chapter: &Chapter<'_>) -> Vec<Table> {
    let wanted = ["decision_cost_mean", "decision_cost", "accuracy", "macro_f1"];
    let table = |split: &'static str| {
        let names = chapter.scores(split);
        let there = |name: &&str| names.iter().any(|score| score.name == *name);
        if !there(&"decision_cost_mean") {
            return None;
        }
        let columns =
            wanted.into_iter().filter(there).map(|name| score_column(chapter, split, name));
        let (columns, rows) = by_method(chapter, columns.collect());
        Some(Table {
            id: "decisions".into(),
            caption: "What the decisions cost".into(),
            corner: "method",
            columns,
            rows,
            note: "Each example gets the decision with the lowest expected cost under its predictive distribution, and \
                   pays the cost of that decision for its true class."
                .into(),
            rank: Rank::First,
        })
    };
    ["decision", "test"].into_iter().filter_map(table).take(1).collect()
}
