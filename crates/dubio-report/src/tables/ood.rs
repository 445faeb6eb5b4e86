//! Scores on OOD sets that have targets of their own.

use crate::chapter::Chapter;
use crate::table::{Rank, Table, by_method, score_column};

const WANTED: [&str; 6] = ["nll", "rmse", "crps", "picp", "mpiw", "qce"];

/// The usual scores of a regression on each OOD set.
pub(crate) fn ood(chapter: &Chapter<'_>) -> Vec<Table> {
    let table = |split: &str| {
        let names = chapter.scores(split);
        let there = |name: &&str| names.iter().any(|score| score.name == *name);
        let columns = WANTED.into_iter().filter(there);
        let columns = columns.map(|name| score_column(chapter, split, name)).collect();
        let (columns, rows) = by_method(chapter, columns);
        let name = split.strip_prefix("ood.")?;
        (!columns.is_empty()).then(|| Table {
            id: format!("ood-{}", name.replace('.', "-")),
            caption: format!("Scores on {name}"),
            corner: "method",
            columns,
            rows,
            note: "These inputs are outside the range of the training data: errors grow, and intervals should grow with them.".into(),
            rank: Rank::First,
        })
    };
    chapter.splits().into_iter().filter_map(table).collect()
}
