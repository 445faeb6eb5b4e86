//! Regression: how many targets lie below each predicted quantile.

use super::curves::{Axis, diagonal, lines, mean_curve};
use crate::chapter::Chapter;
use crate::figure::{Data, Figure, Layout};

/// Share of targets below predicted quantiles against their level.
pub(crate) fn quantile_calibration(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut data = Data::new(&["method", "#level", "#below"]);
    for method in &chapter.methods {
        for (level, below) in mean_curve(method, "test", |view| view.below.as_ref()) {
            data.push(&[method.name.into(), level.into(), below.into()]);
        }
    }
    if data.is_empty() {
        return None;
    }
    let whole = Some([0.0, 1.0]);
    let x = Axis { field: "level", title: "level of the quantile", format: ".0%", domain: whole };
    let y = Axis { field: "below", title: "targets below it", format: ".0%", domain: whole };
    Some(Figure {
        id: "quantile-calibration",
        title: "Calibration of quantiles".into(),
        how: "Of the targets, how many lie below the predicted quantile? On the dotted diagonal as many as \
              promised. A curve that is flat in the middle belongs to distributions that are too narrow, one \
              that is steep there to distributions that are too wide; all above or all below is a bias."
            .into(),
        spec: lines(chapter, data, &x, &y, &[], vec![diagonal("level", "below")]),
        layout: Layout::Wide,
        choices: Vec::new(),
        columns: vec![("method", "method"), ("level", "level"), ("below", "targets below it")],
    })
}
