//! Every class by itself.

use dubio_metrics::card::Direction;

use crate::chapter::{Chapter, Method};
use crate::table::{Column, Field, Line, Rank, Table};
use crate::view::ClassView;

/// Maximum number of classes in a table; of more, those with the lowest recall are shown.
const SHOWN: usize = 100;

/// Recall, precision and confidence of every class of the only method.
pub(crate) fn classes(chapter: &Chapter<'_>) -> Option<Table> {
    let mut present = chapter.present();
    let (method, None) = (present.next()?, present.next()) else { return None };
    let classes = pooled(method)?;
    let recall = |own: &ClassView| own.correct as f64 / own.labels as f64;
    let mut order: Vec<usize> = (0..classes.len()).filter(|c| classes[*c].labels > 0).collect();
    order.sort_by(|a, b| recall(&classes[*a]).total_cmp(&recall(&classes[*b])).then(a.cmp(b)));
    let all = order.len();
    order.truncate(SHOWN);
    let column = |name: &str, direction: Direction, summary: &str| Column {
        name: name.to_string(),
        direction,
        summary: summary.to_string(),
    };
    let row = |&class: &usize| {
        let own = &classes[class];
        let precision = match own.predicted {
            0 => Field::Missing("never predicted".into()),
            n => Field::plain(own.correct as f64 / n as f64, 3),
        };
        Line {
            name: class.to_string(),
            style: None,
            cells: vec![
                Field::plain(own.labels as f64, 0),
                Field::plain(recall(own), 3),
                precision,
                Field::plain(own.confidence, 3),
                Field::plain(recall(own) - own.confidence, 3),
            ],
        }
    };
    Some(Table {
        id: "classes".into(),
        caption: "Every class".into(),
        corner: "class",
        columns: vec![
            column("examples", Direction::Neither, "Examples with this label"),
            column("recall", Direction::Higher, "Accuracy on the examples with this label"),
            column("precision", Direction::Higher, "Accuracy on the examples predicted so"),
            column(
                "confidence",
                Direction::Neither,
                "Mean confidence on the examples with this label",
            ),
            column("recall − confidence", Direction::Zero, "Negative: overconfident on this class"),
        ],
        rows: order.iter().map(row).collect(),
        note: match all {
            n if n > SHOWN => {
                format!("The {SHOWN} of {n} classes with the lowest recall, the lowest first.")
            }
            _ => "The class with the lowest recall first.".to_string(),
        },
        rank: Rank::Second,
    })
}

/// The counts of all runs together.
fn pooled(method: &Method<'_>) -> Option<Vec<ClassView>> {
    let views = method.finished().filter_map(|(_, finished)| finished.view("test"));
    let mut all = views.filter_map(|view| view.classes.clone());
    let first = all.next()?;
    let joined = all.fold(first, |mut sum, own| {
        for (sum, own) in sum.iter_mut().zip(own) {
            let (a, b) = (sum.labels as f64, own.labels as f64);
            if a + b > 0.0 {
                sum.confidence = (a * sum.confidence + b * own.confidence) / (a + b);
            }
            sum.labels += own.labels;
            sum.predicted += own.predicted;
            sum.correct += own.correct;
        }
        sum
    });
    Some(joined)
}
