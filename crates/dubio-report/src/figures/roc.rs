//! Telling out-of-distribution inputs by their entropy.

use super::curves::{Axis, Lines, Points, diagonal, mean_curve};
use super::ood::ood_sets;
use crate::chapter::Chapter;
use crate::figure::{Choice, Data, Figure, Layout};

/// Fraction of OOD inputs found against fraction of false alarms.
pub(crate) fn roc(chapter: &Chapter<'_>) -> Option<Figure> {
    let sets = ood_sets(chapter);
    let mut data = Data::new(["method", "ood", "#alarms", "#found"]);
    for method in &chapter.methods {
        for set in &sets {
            let split = format!("ood.{set}");
            for (alarms, found) in mean_curve(method, &split, |view| view.roc.as_ref()) {
                data.push([method.name.into(), (*set).into(), alarms.into(), found.into()]);
            }
        }
    }
    let data = data.unless_empty()?;
    let choices = vec![Choice::new("ood", "OOD set", &sets)];
    let lines = Lines {
        chapter,
        x: Axis::fraction("alarms", "false alarms"),
        y: Axis::fraction("found", "OOD inputs found"),
        points: Points::Plain,
        choices: &choices,
        below: vec![diagonal("alarms", "found")],
    };
    let spec = lines.spec(data);
    Some(Figure {
        id: "roc",
        title: "Detection of out-of-distribution inputs (ROC)".into(),
        how: "Flag every input whose predictive entropy exceeds a threshold: how many of the OOD inputs are flagged, \
              against how many of the test set (false alarms). The closer to the top left corner the better; the dotted \
              diagonal is guessing."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("ood", "OOD set"),
            ("alarms", "false alarms"),
            ("found", "found"),
        ],
    })
}
