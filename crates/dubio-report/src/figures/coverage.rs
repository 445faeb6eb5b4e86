//! Regression: how many targets the predicted intervals hold.

use super::curves::{Axis, diagonal, lines, mean_curve};
use crate::chapter::Chapter;
use crate::figure::{Data, Figure, Layout};

/// Share of targets inside central intervals against their level.
pub(crate) fn coverage(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut data = Data::new(&["method", "#level", "#inside"]);
    for method in &chapter.methods {
        for (level, inside) in mean_curve(method, "test", |view| view.coverage.as_ref()) {
            data.push(&[method.name.into(), level.into(), inside.into()]);
        }
    }
    if data.is_empty() {
        return None;
    }
    let whole = Some([0.0, 1.0]);
    let x = Axis {
        field: "level",
        title: "level of the central interval",
        format: ".0%",
        domain: whole,
    };
    let y = Axis { field: "inside", title: "targets inside", format: ".0%", domain: whole };
    Some(Figure {
        id: "coverage",
        title: "Coverage of intervals".into(),
        how: "Of the targets, how many lie inside the central interval that is said to hold this share? Below \
              the dotted diagonal the intervals are too narrow (overconfident), above it too wide."
            .into(),
        spec: lines(chapter, data, &x, &y, &[], vec![diagonal("level", "inside")]),
        layout: Layout::Wide,
        choices: Vec::new(),
        columns: vec![("method", "method"), ("level", "level"), ("inside", "targets inside")],
    })
}
