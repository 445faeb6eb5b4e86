//! The scores for a first look.

use dubio_metrics::card::Direction;

use super::all_scores::scorecard;
use crate::chapter::Chapter;
use crate::table::{Column, Field, Rank, Table, by_method, score_column};

const WANTED: [&str; 16] = [
    "accuracy",
    "calibrated.nll",
    "nll",
    "brier",
    "ece",
    "sece",
    "uce",
    "aurc",
    "rmse",
    "crps",
    "pinball",
    "mae",
    "picp",
    "mpiw",
    "interval_score",
    "qce",
];

/// The usual scores of the test set, method by method.
pub(crate) fn main_scores(chapter: &Chapter<'_>) -> Option<Table> {
    let names = chapter.scores("test");
    let there = |name: &&str| names.iter().any(|score| score.name == *name);
    if chapter.methods.len() == 1 {
        // What a form of predictions does not determine is left to the table of every score, below.
        let valued = |name: &&str| {
            chapter.is_classification() || chapter.methods[0].mean("test", name).is_some()
        };
        let wanted: Vec<&str> = WANTED.into_iter().filter(there).filter(valued).collect();
        let (corner, columns, rows) = scorecard(chapter, &wanted);
        let caption = "Main scores".to_string();
        let (id, note, rank) = ("main-scores".to_string(), String::new(), Rank::First);
        return (!rows.is_empty()).then_some(Table {
            id,
            caption,
            corner,
            columns,
            rows,
            note,
            rank,
        });
    }
    let mut columns = vec![runs(chapter), members(chapter)];
    columns
        .extend(WANTED.iter().filter(|n| there(n)).map(|name| score_column(chapter, "test", name)));
    let areas =
        names.iter().filter(|s| s.name.starts_with("ood.") && s.name.ends_with(".auroc.total"));
    columns.extend(areas.map(|score| score_column(chapter, "test", score.name)));
    if names.iter().any(|score| score.name == "composite.robustness") {
        columns.push(score_column(chapter, "test", "composite.robustness"));
    }
    if columns.len() == 2 {
        return None;
    }
    let (columns, rows) = by_method(chapter, columns);
    Some(Table {
        id: "main-scores".into(),
        caption: "Scores of the test set".into(),
        corner: "method",
        columns,
        rows,
        note: "Mean and standard deviation over runs. Bold: better than every other method by more than chance (paired \
               differences, corrected for their number)."
            .into(),
        rank: Rank::First,
    })
}

fn runs(chapter: &Chapter<'_>) -> (Column, Vec<Field>) {
    let column = Column {
        name: "runs".into(),
        direction: Direction::Neither,
        summary: "Runs that finished".into(),
    };
    let field = |(done, all): (usize, usize)| {
        if done == all {
            Field::plain(done as f64, 0)
        } else {
            Field::Text(format!("{done} of {all}"))
        }
    };
    (column, chapter.methods.iter().map(|method| field(method.count())).collect())
}

fn members(chapter: &Chapter<'_>) -> (Column, Vec<Field>) {
    let summary = "Forward passes for one prediction".to_string();
    let column = Column { name: "members".into(), direction: Direction::Neither, summary };
    let field = |members: Option<usize>| match members {
        Some(members) => Field::plain(members as f64, 0),
        None => Field::Missing("no run finished".into()),
    };
    (column, chapter.methods.iter().map(|method| field(method.members())).collect())
}
