//! Where the uncertainty comes from: the data or the members' disagreement.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::shift::{ALL, Shifted, choice, shifted};
use crate::chapter::{Chapter, Method};
use crate::figure::{Choice, Data, Figure, Layout, names, opacity, parameters, tooltip};
use crate::study::Finished;
use crate::summary::mean;
use crate::view::Parts;

/// Mean uncertainty by method and split, in its parts.
pub(crate) fn decomposition(chapter: &Chapter<'_>) -> Option<Figure> {
    let shifts = shifted(chapter);
    let shift = choice(&shifts);
    let mut data = Data::new(["method", "shift", "inputs", "part", "#order", "#nats"]);
    let mut panels: Vec<String> = Vec::new();
    for method in &chapter.methods {
        for (name, panel, splits) in panels_of(chapter, &shifts) {
            for (order, (part, nats)) in parts(method, &splits).into_iter().enumerate() {
                data.push([
                    method.name.into(),
                    name.into(),
                    panel[..].into(),
                    part.into(),
                    order.into(),
                    nats.into(),
                ]);
                if !panels.contains(&panel) {
                    panels.push(panel.clone());
                }
            }
        }
    }
    let data = data.unless_empty()?;
    let choices: Vec<Choice> = [shift].into_iter().filter(|c| !c.options.is_empty()).collect();
    Some(Figure {
        id: "decomposition",
        title: "Data and knowledge uncertainty".into(),
        how: "Blue is the data (aleatoric) uncertainty: the mean entropy of the members. Orange is the knowledge \
              (epistemic) uncertainty: their disagreement, which should grow on unfamiliar inputs. A single member cannot \
              separate the two (grey)."
            .into(),
        spec: spec(chapter, data, &choices, &panels),
        layout: Layout::Panels(230),
        choices,
        columns: vec![
            ("method", "method"),
            ("shift", "shift"),
            ("inputs", "inputs"),
            ("part", "uncertainty"),
            ("nats", "mean entropy (nats)"),
        ],
    })
}

fn spec(chapter: &Chapter<'_>, data: Data<6>, choices: &[Choice], panels: &[String]) -> Value {
    let filter =
        if choices.is_empty() { "true" } else { "datum.shift === shift || datum.shift === ''" };
    let names = names(chapter);
    let domain = ["data", "knowledge", "one member"];
    json!({
        "params": parameters(choices),
        "data": data.into_value(),
        "transform": [{"filter": filter}],
        "facet": {"field": "inputs", "type": "nominal", "title": null, "sort": panels},
        "columns": 3,
        "spacing": {"row": 14, "column": 18},
        "spec": {
            "width": 170, "height": {"step": 15},
            "mark": {"type": "bar", "height": {"band": 0.72}},
            "encoding": {
                "y": {"field": "method", "type": "nominal", "title": null, "sort": names},
                "x": {"field": "nats", "type": "quantitative", "title": "mean entropy (nats)",
                      "axis": {"tickCount": 4}},
                "color": {"field": "part", "type": "nominal", "title": "uncertainty",
                          "scale": {"domain": domain, "range": ["var(--under)", "var(--over)", "var(--soft)"]}},
                "order": {"field": "order", "type": "quantitative"},
                "opacity": opacity(0.85),
                "tooltip": tooltip(&[("method", "method", ""), ("inputs", "inputs", ""),
                    ("part", "uncertainty", ""), ("nats", "nats", ".4f")]),
            },
        },
    })
}

/// What is shown side by side: the shift it belongs to (none for what is always shown), its name, and
/// the splits that it is a mean of.
fn panels_of<'a>(
    chapter: &Chapter<'a>,
    shifts: &[Shifted<'a>],
) -> Vec<(&'a str, String, Vec<&'a str>)> {
    let mut all = vec![("", "test".to_string(), vec!["test"])];
    for shifted in shifts {
        all.push((shifted.name, format!("severity {}", shifted.severity), vec![shifted.split]));
    }
    let severities: BTreeSet<usize> = shifts.iter().map(|shifted| shifted.severity).collect();
    for severity in severities {
        let same = shifts.iter().filter(|shifted| shifted.severity == severity);
        all.push((
            ALL,
            format!("severity {severity}"),
            same.map(|shifted| shifted.split).collect(),
        ));
    }
    for split in chapter.splits() {
        if let Some(name) = split.strip_prefix("ood.") {
            all.push(("", name.to_string(), vec![split]));
        }
    }
    all
}

/// The parts of the mean uncertainty over runs.
fn parts(method: &Method<'_>, splits: &[&str]) -> Vec<(&'static str, f64)> {
    let of = |finished: &Finished, split: &&str| finished.view(split)?.uncertainty;
    let all: Vec<Parts> = method
        .finished()
        .flat_map(|(_, finished)| splits.iter().filter_map(move |split| of(finished, split)))
        .collect();
    let over = |of: &dyn Fn(&Parts) -> Option<f64>| -> Option<f64> {
        let values: Vec<f64> = all.iter().filter_map(of).collect();
        (!values.is_empty()).then(|| mean(&values))
    };
    let data = over(&|parts| parts.split.map(|(data, _)| data));
    let knowledge = over(&|parts| parts.split.map(|(_, knowledge)| knowledge));
    match (data, knowledge) {
        (Some(data), Some(knowledge)) => vec![("data", data), ("knowledge", knowledge)],
        _ => over(&|parts| Some(parts.total)).map(|t| ("one member", t)).into_iter().collect(),
    }
}
