//! Regression: how many targets the predicted intervals hold.

use super::curves::{Axis, Lines, Points, diagonal, inputs, mean_curve, splits_with};
use crate::chapter::Chapter;
use crate::figure::{Data, Figure, Layout};

/// Fraction of targets inside central intervals against their level.
pub(crate) fn coverage(chapter: &Chapter<'_>) -> Option<Figure> {
    let splits = splits_with(chapter, |view| view.coverage.is_some());
    let mut data = Data::new(["method", "inputs", "#level", "#inside"]);
    for split in &splits {
        for method in &chapter.methods {
            for (level, inside) in mean_curve(method, split, |view| view.coverage.as_ref()) {
                data.push([method.name.into(), (*split).into(), level.into(), inside.into()]);
            }
        }
    }
    let data = data.unless_empty()?;
    let choices = vec![inputs(&splits)];
    let lines = Lines {
        chapter,
        x: Axis::fraction("level", "level of the central interval"),
        y: Axis::fraction("inside", "targets inside"),
        points: Points::Plain,
        choices: &choices,
        below: vec![diagonal("level", "inside")],
    };
    let spec = lines.spec(data);
    Some(Figure {
        id: "coverage",
        title: "Coverage of intervals".into(),
        how: "The fraction of targets inside central intervals of each level. Below the dotted diagonal the intervals \
              are too narrow (overconfident), above it too wide."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![("method", "method"), ("inputs", "inputs"), ("level", "level"), ("inside", "targets inside")],
    })
}
