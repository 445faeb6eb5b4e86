//! Error among the most confident predictions.

use super::curves::{Axis, Lines, Points, interesting, mean_curve};
use crate::chapter::Chapter;
use crate::figure::{Data, Figure, Layout};

/// Error against the fraction kept.
pub(crate) fn risk_coverage(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut data = Data::new(["method", "#kept", "#error"]);
    for method in &chapter.methods {
        for (kept, error) in mean_curve(method, "test", |view| view.risk.as_ref()) {
            if kept > 0.0 {
                data.push([method.name.into(), kept.into(), error.into()]);
            }
        }
    }
    let data = data.unless_empty()?;
    let lines = Lines {
        chapter,
        x: Axis::within("kept", "fraction kept", [1.0 - interesting(chapter), 1.0]),
        y: Axis::fitted("error", "error among them", "~p"),
        points: Points::Plain,
        choices: &[],
        below: Vec::new(),
    };
    Some(Figure {
        id: "risk-coverage",
        title: "Risk and coverage".into(),
        how: "The error among the most confident predictions, by the fraction of predictions that are kept. Lower is \
              better; the area under the whole curve is AURC."
            .into(),
        spec: lines.spec(data),
        layout: Layout::Wide,
        choices: Vec::new(),
        columns: vec![("method", "method"), ("kept", "fraction kept"), ("error", "error among them")],
    })
}
