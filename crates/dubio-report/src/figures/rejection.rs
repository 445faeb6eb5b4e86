//! Accuracy among what is kept when the least confident predictions are handed over.

use super::curves::{Axis, Lines, Points, interesting, mean_curve};
use crate::chapter::Chapter;
use crate::figure::{Data, Figure, Layout};

/// Accuracy against the fraction rejected.
pub(crate) fn rejection(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut data = Data::new(["method", "#rejected", "#accuracy"]);
    for method in &chapter.methods {
        for (kept, error) in mean_curve(method, "test", |view| view.risk.as_ref()) {
            if kept > 0.0 {
                data.push([method.name.into(), (1.0 - kept).into(), (1.0 - error).into()]);
            }
        }
    }
    let data = data.unless_empty()?;
    let lines = Lines {
        chapter,
        x: Axis::within("rejected", "fraction rejected", [0.0, interesting(chapter)]),
        y: Axis::fitted("accuracy", "accuracy of the rest", "~p"),
        points: Points::Plain,
        choices: &[],
        below: Vec::new(),
    };
    Some(Figure {
        id: "rejection",
        title: "Accuracy after rejecting uncertain predictions".into(),
        how: "Reject the least confident predictions: how accurate are the rest? The earlier a curve rises, the better \
              the model knows which of its predictions are uncertain."
            .into(),
        spec: lines.spec(data),
        layout: Layout::Wide,
        choices: Vec::new(),
        columns: vec![
            ("method", "method"),
            ("rejected", "fraction rejected"),
            ("accuracy", "accuracy of the rest"),
        ],
    })
}
