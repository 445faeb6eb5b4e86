//! All data sets and networks together.

use dubio_metrics::card::Direction;

use crate::report::Part;
use crate::table::{Column, Field, Line, Rank, Table, score_column};

/// The ranked score of every method on every data set and network, and its mean place.
pub(crate) fn overview(methods: &[&str], parts: &[Part<'_>]) -> Option<Table> {
    if parts.len() < 2 || methods.len() < 2 {
        return None;
    }
    let mut scores: Vec<&str> =
        parts.iter().filter_map(|part| Some(part.ranking.as_ref()?.score)).collect();
    scores.dedup();
    let (naming, caption) = match &scores[..] {
        [one] => (Naming::OneScore, format!("{one} of every data set and network")),
        _ => (Naming::SeveralScores, "The ranked score of every data set and network".to_string()),
    };
    let (columns, fields): (Vec<Column>, Vec<Vec<Field>>) =
        parts.iter().filter_map(|part| column(methods, part, naming)).unzip();
    let place = Column {
        name: "mean place".into(),
        direction: Direction::Lower,
        summary: "Mean over the columns; only of methods that are ranked in all of them".into(),
    };
    let rows = methods.iter().enumerate().map(|(m, name)| {
        let own = fields.iter().map(|column| column[m].clone());
        Line {
            name: (*name).to_string(),
            style: Some(m),
            cells: [mean_place(name, parts)].into_iter().chain(own).collect(),
        }
    });
    Some(Table {
        id: "overview".into(),
        caption,
        corner: "method",
        rows: rows.collect(),
        columns: [place].into_iter().chain(columns).collect(),
        note: "Mean and standard deviation over runs. Bold: better than every other method by more than chance."
            .into(),
        rank: Rank::First,
    })
}

/// What a column is called by.
#[derive(Clone, Copy)]
enum Naming {
    /// Data set and network; the score is the same everywhere.
    OneScore,
    /// Also the score.
    SeveralScores,
}

/// A chapter's ranked score for every method of the study.
fn column(methods: &[&str], part: &Part<'_>, naming: Naming) -> Option<(Column, Vec<Field>)> {
    let score = part.ranking.as_ref()?.score;
    let (column, own) = score_column(&part.chapter, "test", score);
    let field = |name: &&str| {
        let here = part.chapter.methods.iter().position(|method| method.name == *name);
        here.map_or(Field::Missing("not run here".into()), |m| own[m].clone())
    };
    let name = match naming {
        Naming::OneScore => part.chapter.name(),
        Naming::SeveralScores => format!("{}: {score}", part.chapter.name()),
    };
    Some((Column { name, ..column }, methods.iter().map(field).collect()))
}

fn mean_place(method: &str, parts: &[Part<'_>]) -> Field {
    let place = |part: &Part<'_>| {
        let standings = &part.ranking.as_ref()?.standings;
        standings.iter().position(|standing| standing.method.name == method).map(|place| place + 1)
    };
    let places: Option<Vec<usize>> = parts.iter().map(place).collect();
    match places {
        Some(places) => Field::plain(places.iter().sum::<usize>() as f64 / places.len() as f64, 1),
        None => Field::Missing("not ranked everywhere".into()),
    }
}
