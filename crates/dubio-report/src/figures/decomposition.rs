//! Where the uncertainty comes from: the data or the members' disagreement.

use serde_json::json;

use crate::chapter::{Chapter, Method};
use crate::figure::{Data, Figure, Layout, opacity, parameters, tooltip};
use crate::summary::mean;
use crate::view::Parts;

/// Mean uncertainty by method and split, in its parts.
pub(crate) fn decomposition(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut data = Data::new(&["method", "split", "part", "#order", "#nats"]);
    let mut shown: Vec<&str> = Vec::new();
    for split in chapter.splits() {
        for method in &chapter.methods {
            for (order, (part, nats)) in parts(method, split).into_iter().enumerate() {
                data.push(&[
                    method.name.into(),
                    split.into(),
                    part.into(),
                    order.into(),
                    nats.into(),
                ]);
                if shown.last() != Some(&split) {
                    shown.push(split);
                }
            }
        }
    }
    if data.is_empty() {
        return None;
    }
    let names: Vec<&str> = chapter.methods.iter().map(|m| m.name).collect();
    let domain = ["data", "knowledge", "not known which"];
    let spec = json!({
        "params": parameters(&[]),
        "data": data.into_value(),
        "facet": {"field": "split", "type": "nominal", "title": null, "sort": shown},
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
                "tooltip": tooltip(&[("method", "method", ""), ("split", "split", ""),
                    ("part", "uncertainty", ""), ("nats", "nats", ".4f")]),
            },
        },
    });
    Some(Figure {
        id: "decomposition",
        title: "What the uncertainty is made of".into(),
        how: "Blue is what the members agree to be uncertain about, the noise of the data; orange is what they \
              disagree about, for want of knowledge. On strange inputs the orange should grow. A single \
              member cannot tell the two apart (grey)."
            .into(),
        spec,
        layout: Layout::Panels(260),
        choices: Vec::new(),
        columns: vec![
            ("method", "method"),
            ("split", "split"),
            ("part", "uncertainty"),
            ("nats", "mean entropy (nats)"),
        ],
    })
}

/// The parts of the mean uncertainty over runs.
fn parts(method: &Method<'_>, split: &str) -> Vec<(&'static str, f64)> {
    let all: Vec<Parts> =
        method.finished().filter_map(|(_, finished)| finished.view(split)?.uncertainty).collect();
    let over = |of: &dyn Fn(&Parts) -> Option<f64>| -> Option<f64> {
        let values: Vec<f64> = all.iter().filter_map(of).collect();
        (!values.is_empty()).then(|| mean(&values))
    };
    let data = over(&|parts| parts.split.map(|(data, _)| data));
    let knowledge = over(&|parts| parts.split.map(|(_, knowledge)| knowledge));
    match (data, knowledge) {
        (Some(data), Some(knowledge)) => vec![("data", data), ("knowledge", knowledge)],
        _ => over(&|parts| Some(parts.total)).map(|t| ("not known which", t)).into_iter().collect(),
    }
}
