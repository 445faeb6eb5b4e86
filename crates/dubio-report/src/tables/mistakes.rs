//! The worst mistakes.

use dubio_metrics::card::Direction;

use crate::chapter::Chapter;
use crate::table::{Column, Field, Line, Rank, Table};

/// The wrong predictions of the highest confidence, of the only method's first run.
pub(crate) fn mistakes(chapter: &Chapter<'_>) -> Option<Table> {
    let mut present = chapter.present();
    let (method, None) = (present.next()?, present.next()) else { return None };
    let (_, finished) = method.finished().next()?;
    let mistakes = finished.view("test")?.mistakes.as_ref().filter(|all| !all.is_empty())?;
    let column = |name: &str, summary: &str| Column {
        name: name.to_string(),
        direction: Direction::Neither,
        summary: summary.to_string(),
    };
    let rows = mistakes.iter().map(|own| Line {
        name: own.index.to_string(),
        style: None,
        cells: vec![
            Field::plain(f64::from(own.label), 0),
            Field::plain(f64::from(own.predicted), 0),
            Field::plain(own.confidence, 4),
            Field::plain(own.probability, 4),
        ],
    });
    Some(Table {
        id: "mistakes".into(),
        caption: "The most confident mistakes".into(),
        corner: "example",
        columns: vec![
            column("label", "True class"),
            column("prediction", "Predicted class"),
            column("confidence", "Probability of the predicted class"),
            column("p(label)", "Probability of the true class"),
        ],
        rows: rows.collect(),
        note: "Examples by their index in the file, from 0. Look at them: some are wrong labels."
            .into(),
        rank: Rank::Second,
    })
}
