//! Regression by quantiles: how many targets lie below each predicted quantile, at the levels of the file.

use serde_json::json;

use super::curves::{Axis, Lines, Points, diagonal, inputs, splits_with};
use crate::chapter::Chapter;
use crate::figure::{Data, Figure, Layout, colour, opacity};
use crate::proportion::{Z95, wilson};

/// Fraction of targets below predicted quantiles against their levels, with intervals.
pub(crate) fn quantile_levels(chapter: &Chapter<'_>) -> Option<Figure> {
    let splits = splits_with(chapter, |view| view.quantiles.is_some());
    let mut data = Data::new(["method", "inputs", "#level", "#below", "#lo", "#hi"]);
    for split in &splits {
        for method in &chapter.methods {
            // Of several runs the first: their test sets may differ.
            let view = method.finished().find_map(|(_, finished)| finished.view(split));
            let Some(view) = view else { continue };
            for own in view.quantiles.iter().flatten() {
                let (lo, hi) = wilson(own.below, view.examples, Z95);
                data.push([
                    method.name.into(),
                    (*split).into(),
                    own.level.into(),
                    own.below.into(),
                    lo.into(),
                    hi.into(),
                ]);
            }
        }
    }
    let data = data.unless_empty()?;
    let choices = vec![inputs(&splits)];
    let error_bars = json!({
        "mark": {"type": "rule", "strokeWidth": 1.5},
        "encoding": {
            "y": {"field": "lo", "type": "quantitative"}, "y2": {"field": "hi"},
            "color": colour(chapter), "opacity": opacity(0.55),
        },
    });
    let lines = Lines {
        chapter,
        x: Axis::fraction("level", "level of the predicted quantile"),
        y: Axis::fraction("below", "targets below it"),
        points: Points::Marked,
        choices: &choices,
        below: vec![diagonal("level", "below"), error_bars],
    };
    let spec = lines.spec(data);
    Some(Figure {
        id: "quantile-levels",
        title: "Calibration of the predicted quantiles".into(),
        how: "The fraction of targets that lie below each predicted quantile, with its 95 % interval. On the dotted \
              diagonal the quantile is right; above it too high, below it too low."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("inputs", "inputs"),
            ("level", "level"),
            ("below", "targets below it"),
            ("lo", "95 % from"),
            ("hi", "to"),
        ],
    })
}
