//! Scores over settings that have nothing to do with the methods.

use serde_json::json;

use super::curves::{Axis, Lines, Points};
use crate::chapter::Chapter;
use crate::figure::{Choice, Data, Figure, Layout};
use crate::stability::over;
use crate::study::Setting;

/// Binned scores against the number of bins.
pub(crate) fn bins(chapter: &Chapter<'_>) -> Option<Figure> {
    let x = Axis::fitted("setting", "number of bins", "d");
    let how = "A binned calibration error depends on the number of bins. Where curves cross, the order depends on the \
               number of bins; do not rank by it."
        .to_string();
    sweep(chapter, Setting::Bins, "bins", "Calibration against the number of bins", how, x)
}

/// Scores against the temperature of the predictive distribution.
pub(crate) fn temperature(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut x = Axis::fitted("setting", "temperature", ".2~f");
    x.scale(json!({"type": "log", "base": 2, "nice": false, "padding": 8}));
    let how = "The same predictions made sharper (left of 1) or flatter (right of 1). A method whose minimum is away from 1 \
               would gain from temperature scaling; where curves cross, the order at temperature 1 depends on how well \
               the temperatures happen to be set."
        .to_string();
    sweep(chapter, Setting::Temperature, "temperature", "Scores against the temperature", how, x)
}

fn sweep(
    chapter: &Chapter<'_>,
    setting: Setting,
    id: &'static str,
    title: &str,
    how: String,
    x: Axis,
) -> Option<Figure> {
    let mut data = Data::new(["method", "score", "#setting", "#value"]);
    let all = over(chapter, setting);
    for stability in &all {
        for (method, values) in chapter.present().zip(&stability.values) {
            for (setting, value) in stability.settings.iter().zip(values) {
                data.push([
                    method.name.into(),
                    stability.score[..].into(),
                    (*setting).into(),
                    (*value).into(),
                ]);
            }
        }
    }
    let data = data.unless_empty()?;
    let options = all.iter().map(|stability| stability.score.clone()).collect();
    let choices = vec![Choice { parameter: "score", label: "Score", options }];
    let y = Axis::fitted("value", "", ".4~g");
    let lines =
        Lines { chapter, x, y, points: Points::Plain, choices: &choices, below: Vec::new() };
    let spec = lines.spec(data);
    let heading = match setting {
        Setting::Bins => "number of bins",
        Setting::Temperature => "temperature",
    };
    Some(Figure {
        id,
        title: title.into(),
        how,
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("score", "score"),
            ("setting", heading),
            ("value", "value"),
        ],
    })
}
