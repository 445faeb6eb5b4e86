//! A table as plain data, before it is HTML, Markdown or LaTeX.

use dubio_metrics::card::{Card, Direction};

use crate::chapter::Chapter;
use crate::number::places;
use crate::ranking::clear_best;
use crate::summary::Cell;

/// Rows of methods, columns of what is known of them.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name in addresses and file names.
    pub id: String,
    /// What it shows.
    pub caption: String,
    /// Heading of the first column.
    pub corner: &'static str,
    /// The other columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Line>,
    /// What to know to read it.
    pub note: String,
    /// Whether a page shows it at once.
    pub rank: Rank,
}

/// How much a table matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// It is part of the answer.
    First,
    /// It is there for readers who look for it.
    Second,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Heading.
    pub name: String,
    /// Which values are better.
    pub direction: Direction,
    /// What the heading means, where it needs an explanation.
    pub summary: String,
}

/// A row.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its first column.
    pub name: String,
    /// The method's position in the study, if the row is a method.
    pub style: Option<usize>,
    /// The other columns.
    pub cells: Vec<Field>,
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    /// A number.
    Number(Number),
    /// Words.
    Text(String),
    /// Nothing, and why.
    Missing(String),
}

/// A number with what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// The value, or the mean over runs.
    pub value: f64,
    /// Standard deviation over runs.
    pub std: Option<f64>,
    /// 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Digits after the point.
    pub places: usize,
    /// Whether it is better than all others of the column by more than chance.
    pub best: bool,
    /// Runs with a value and runs in all, where they are not the same.
    pub of: Option<(usize, usize)>,
}

impl Field {
    /// A plain number.
    pub fn plain(value: f64, places: usize) -> Self {
        let number = Number { value, std: None, interval: None, places, best: false, of: None };
        Self::Number(number)
    }
}

/// A column of a score for every method of a chapter.
pub(crate) fn score_fields(chapter: &Chapter<'_>, split: &str, score: &str) -> Vec<Field> {
    let cells: Vec<Option<Cell>> = chapter.methods.iter().map(|m| m.cell(split, score)).collect();
    let best = clear_best(chapter, split, score);
    let sizes = cells.iter().flatten().filter_map(|cell| cell.summary().map(|s| s.mean.abs()));
    let typical = sizes.filter(|s| s.is_finite()).fold(0.0, f64::max);
    // Probabilities and their like get four digits; what is larger gets fewer.
    let places = places(typical, 4).min(4);
    let field = |(index, cell): (usize, Option<Cell>)| match cell {
        None => Field::Missing(String::new()),
        Some(Cell::Undefined(why)) => Field::Missing(why),
        Some(Cell::Value(summary)) => Field::Number(Number {
            value: summary.mean,
            std: summary.std,
            interval: summary.interval,
            places,
            best: best == Some(index),
            of: (summary.values.len() < summary.runs)
                .then_some((summary.values.len(), summary.runs)),
        }),
    };
    cells.into_iter().enumerate().map(field).collect()
}

/// A table of a chapter's methods by columns.
pub(crate) fn by_method(
    chapter: &Chapter<'_>,
    columns: Vec<(Column, Vec<Field>)>,
) -> (Vec<Column>, Vec<Line>) {
    let (heads, fields): (Vec<Column>, Vec<Vec<Field>>) = columns.into_iter().unzip();
    let rows = chapter.methods.iter().enumerate().map(|(m, method)| Line {
        name: method.name.to_string(),
        style: Some(method.style),
        cells: fields.iter().map(|column| column[m].clone()).collect(),
    });
    (heads, rows.collect())
}

/// A column of a score.
pub(crate) fn score_column(
    chapter: &Chapter<'_>,
    split: &str,
    score: &str,
) -> (Column, Vec<Field>) {
    let card = chapter.card(score);
    let column = Column {
        name: score.to_string(),
        direction: card.map_or(Direction::Neither, |card| card.direction),
        summary: card.map_or(String::new(), |card| summary(score, card)),
    };
    (column, score_fields(chapter, split, score))
}

/// What a score is, in a sentence.
pub(crate) fn summary(score: &str, card: &Card) -> String {
    match score.strip_prefix("calibrated.") {
        Some(_) => format!("After temperature scaling, by cross-validation. {}", card.summary),
        None => card.summary.to_string(),
    }
}
