//! Regression: how wide the predicted intervals are.

use super::curves::{Axis, Lines, Points, mean_curve};
use crate::chapter::Chapter;
use crate::figure::{Data, Figure, Layout};

/// The widths of the central intervals, the narrowest first.
pub(crate) fn sharpness(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut data = Data::new(["method", "#fraction", "#width"]);
    for method in &chapter.methods {
        for (fraction, width) in mean_curve(method, "test", |view| view.widths.as_ref()) {
            data.push([method.name.into(), fraction.into(), width.into()]);
        }
    }
    let data = data.unless_empty()?;
    let lines = Lines {
        chapter,
        x: Axis::fraction("fraction", "fraction of the examples, the narrowest interval first"),
        y: Axis::fitted("width", "width of the central interval", ".3~s"),
        points: Points::Plain,
        choices: &[],
        below: Vec::new(),
    };
    let spec = lines.spec(data);
    Some(Figure {
        id: "sharpness",
        title: "Sharpness".into(),
        how: "How wide the central intervals are, from the narrowest to the widest. Of two models that are equally \
              calibrated the lower curve is better; a flat curve means that the model is equally uncertain about \
              every example."
            .into(),
        spec,
        layout: Layout::Wide,
        choices: Vec::new(),
        columns: vec![("method", "method"), ("fraction", "fraction of examples"), ("width", "width")],
    })
}
