//! Error among the most confident predictions.

use super::curves::{Axis, lines, mean_curve};
use crate::chapter::Chapter;
use crate::figure::{Data, Figure, Layout};

/// Error against the share kept.
pub(crate) fn risk_coverage(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut data = Data::new(&["method", "#kept", "#error"]);
    for method in &chapter.methods {
        for (kept, error) in mean_curve(method, "test", |view| view.risk.as_ref()) {
            if kept > 0.0 {
                data.push(&[method.name.into(), kept.into(), error.into()]);
            }
        }
    }
    if data.is_empty() {
        return None;
    }
    let x = Axis { field: "kept", title: "share kept", format: ".0%", domain: Some([0.0, 1.0]) };
    let y = Axis { field: "error", title: "error among them", format: "~p", domain: None };
    Some(Figure {
        id: "risk-coverage",
        title: "Risk and coverage".into(),
        how: "The same the other way round: how much may be kept before the error among it exceeds what you \
              can bear. Lower is better, and the area under the curve is the score aurc."
            .into(),
        spec: lines(chapter, data, &x, &y, &[], Vec::new()),
        layout: Layout::Wide,
        choices: Vec::new(),
        columns: vec![("method", "method"), ("kept", "share kept"), ("error", "error among them")],
    })
}
