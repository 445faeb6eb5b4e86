//! All data sets and networks together.

use dubio_metrics::card::Direction;

use crate::chapter::Chapter;
use crate::ranking::Ranking;
use crate::table::{Column, Field, Line, Rank, Table, score_column};

/// A chapter with its ranking; `None` when no run has a score to rank by.
type Ranked<'a> = (&'a Chapter<'a>, Option<&'a Ranking<'a>>);

/// The ranked score of every method on every data set and network, and its mean rank.
pub(crate) fn overview(methods: &[&str], chapters: &[Ranked<'_>]) -> Option<Table> {
    if chapters.len() < 2 || methods.len() < 2 {
        return None;
    }
    let mut scores: Vec<&str> =
        chapters.iter().filter_map(|(_, ranking)| Some(ranking.as_ref()?.score)).collect();
    scores.dedup();
    let (naming, caption) = match &scores[..] {
        [one] => (Naming::OneScore, format!("{one} of every data set and network")),
        _ => (Naming::SeveralScores, "The ranked score of every data set and network".to_string()),
    };
    let (columns, fields): (Vec<Column>, Vec<Vec<Field>>) =
        chapters.iter().filter_map(|chapter| column(methods, *chapter, naming)).unzip();
    let rank = Column {
        name: "mean rank".into(),
        direction: Direction::Lower,
        summary: "Mean over the columns; only of methods that are ranked in all of them".into(),
    };
    let rows = methods.iter().enumerate().map(|(m, name)| {
        let own = fields.iter().map(|column| column[m].clone());
        Line {
            name: (*name).to_string(),
            style: Some(m),
            cells: [mean_rank(name, chapters)].into_iter().chain(own).collect(),
        }
    });
    Some(Table {
        id: "overview".into(),
        caption,
        corner: "method",
        rows: rows.collect(),
        columns: [rank].into_iter().chain(columns).collect(),
        note: "Mean and standard deviation over runs. Bold: better than every other method by more than chance, \
               corrected for the number of comparisons."
            .into(),
        rank: Rank::First,
    })
}

/// What a column is named after.
#[derive(Clone, Copy)]
enum Naming {
    /// Data set and network; the score is the same everywhere.
    OneScore,
    /// Also the score.
    SeveralScores,
}

/// A chapter's ranked score for every method of the study.
fn column(
    methods: &[&str],
    (chapter, ranking): Ranked<'_>,
    naming: Naming,
) -> Option<(Column, Vec<Field>)> {
    let score = ranking?.score;
    let (column, own) = score_column(chapter, "test", score);
    let field = |name: &&str| {
        let here = chapter.methods.iter().position(|method| method.name == *name);
        here.map_or(Field::Missing("not run here".into()), |m| own[m].clone())
    };
    let name = match naming {
        Naming::OneScore => chapter.name(),
        Naming::SeveralScores => format!("{}: {score}", chapter.name()),
    };
    Some((Column { name, ..column }, methods.iter().map(field).collect()))
}

fn mean_rank(method: &str, chapters: &[Ranked<'_>]) -> Field {
    let rank = |(_, ranking): &Ranked<'_>| {
        let standings = &ranking.as_ref()?.standings;
        standings.iter().position(|standing| standing.method.name == method).map(|index| index + 1)
    };
    let ranks: Option<Vec<usize>> = chapters.iter().map(rank).collect();
    match ranks {
        Some(ranks) => Field::plain(ranks.iter().sum::<usize>() as f64 / ranks.len() as f64, 1),
        None => Field::Missing("not ranked everywhere".into()),
    }
}
