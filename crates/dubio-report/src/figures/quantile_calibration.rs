//! Regression: how many targets lie below each predicted quantile.

use super::curves::{Axis, Lines, Points, diagonal, inputs, mean_curve, splits_with};
use crate::chapter::Chapter;
use crate::figure::{Data, Figure, Layout};

/// Fraction of targets below predicted quantiles against their level.
pub(crate) fn quantile_calibration(chapter: &Chapter<'_>) -> Option<Figure> {
    let splits = splits_with(chapter, |view| view.below.is_some());
    let mut data = Data::new(["method", "inputs", "#level", "#below"]);
    for split in &splits {
        for method in &chapter.methods {
            for (level, below) in mean_curve(method, split, |view| view.below.as_ref()) {
                data.push([method.name.into(), (*split).into(), level.into(), below.into()]);
            }
        }
    }
    let data = data.unless_empty()?;
    let choices = vec![inputs(&splits)];
    let lines = Lines {
        chapter,
        x: Axis::fraction("level", "level of the quantile"),
        y: Axis::fraction("below", "targets below it"),
        points: Points::Plain,
        choices: &choices,
        below: vec![diagonal("level", "below")],
    };
    let spec = lines.spec(data);
    Some(Figure {
        id: "quantile-calibration",
        title: "Calibration of quantiles".into(),
        how: "The fraction of targets below the predicted quantile of each level; the dotted diagonal is perfect. A curve \
              that is flat in the middle means that the distributions are too narrow, one that is steep there that they \
              are too wide; a curve that stays above or below the diagonal means bias."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![("method", "method"), ("inputs", "inputs"), ("level", "level"), ("below", "targets below it")],
    })
}
