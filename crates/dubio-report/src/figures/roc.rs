//! Telling inputs from elsewhere by their entropy.

use super::curves::{Axis, Lines, Points, diagonal, mean_curve};
use super::foreign::foreign_sets;
use crate::chapter::Chapter;
use crate::figure::{Choice, Data, Figure, Layout};

/// Share of foreign inputs found against share of false alarms.
pub(crate) fn roc(chapter: &Chapter<'_>) -> Option<Figure> {
    let sets = foreign_sets(chapter);
    let mut data = Data::new(["method", "foreign", "#alarms", "#found"]);
    for method in &chapter.methods {
        for set in &sets {
            let split = format!("ood.{set}");
            for (alarms, found) in mean_curve(method, &split, |view| view.roc.as_ref()) {
                data.push([method.name.into(), (*set).into(), alarms.into(), found.into()]);
            }
        }
    }
    let data = data.unless_empty()?;
    let choices = vec![Choice::new("foreign", "Set from elsewhere", &sets)];
    let lines = Lines {
        chapter,
        x: Axis::share("alarms", "false alarms"),
        y: Axis::share("found", "foreign inputs found"),
        points: Points::Plain,
        choices: &choices,
        below: vec![diagonal("alarms", "found")],
    };
    let spec = lines.spec(data);
    Some(Figure {
        id: "roc",
        title: "Detection of inputs from elsewhere".into(),
        how: "Raise an alarm when the entropy exceeds a threshold: how many of the foreign inputs are found, \
              against how many of the model's own raise a false alarm. The nearer to the top left corner the \
              better; the dotted diagonal is guessing."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("foreign", "set from elsewhere"),
            ("alarms", "false alarms"),
            ("found", "found"),
        ],
    })
}
