//! Telling wrong predictions by their confidence.

use super::curves::{Axis, Lines, Points, diagonal, mean_curve};
use crate::chapter::Chapter;
use crate::figure::{Data, Figure, Layout};

/// Fraction of errors found against fraction of false alarms. Only for a single method: two methods make
/// different errors, so their curves cannot be compared (Ashukha et al. 2020, sec. 3.2).
pub(crate) fn error_detection(chapter: &Chapter<'_>) -> Option<Figure> {
    if chapter.present().count() != 1 {
        return None;
    }
    let mut data = Data::new(["method", "#alarms", "#found"]);
    for method in chapter.present() {
        for (alarms, found) in mean_curve(method, "test", |view| view.errors_found.as_ref()) {
            data.push([method.name.into(), alarms.into(), found.into()]);
        }
    }
    let data = data.unless_empty()?;
    let lines = Lines {
        chapter,
        x: Axis::fraction("alarms", "correct predictions flagged (false alarms)"),
        y: Axis::fraction("found", "wrong predictions flagged"),
        points: Points::Plain,
        choices: &[],
        below: vec![diagonal("alarms", "found")],
    };
    let spec = lines.spec(data);
    Some(Figure {
        id: "error-detection",
        title: "Error detection (ROC)".into(),
        how: "Flag every prediction whose confidence is below a threshold: how many of the wrong predictions are \
              flagged, against how many of the correct ones. The closer to the top left corner the better; the dotted \
              diagonal is guessing."
            .into(),
        spec,
        layout: Layout::Wide,
        choices: Vec::new(),
        columns: vec![("method", "method"), ("alarms", "false alarms"), ("found", "errors found")],
    })
}
