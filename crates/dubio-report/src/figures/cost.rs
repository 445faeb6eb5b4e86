//! What quality costs.

use serde_json::json;

use crate::chapter::{Chapter, Method};
use crate::figure::{Choice, Data, Figure, Layout, colour, marker, opacity, parameters, tooltip};
use crate::study::Cost;
use crate::summary::mean;

/// A kind of cost: what it is called, and how it is read off.
pub(crate) struct Kind {
    pub(crate) label: &'static str,
    pub(crate) of: fn(&Cost, usize) -> Option<f64>,
}

/// Every kind of cost.
pub(crate) const KINDS: [Kind; 6] = [
    Kind { label: "training seconds", of: |c, _| Some(c.train_secs) },
    Kind { label: "seconds per prediction", of: |c, _| Some(c.predict_secs) },
    Kind { label: "peak memory (MB)", of: |c, _| c.peak_bytes.map(|b| b as f64 / 1e6) },
    Kind { label: "stored parameters (MB)", of: |c, _| Some(c.stored_bytes as f64 / 1e6) },
    Kind { label: "parameters of a member", of: |c, _| Some(c.parameters as f64) },
    Kind {
        label: "multiply-accumulates per prediction",
        of: |c, members| Some(c.macs as f64 * members as f64),
    },
];

/// The mean of a cost over a method's runs.
pub(crate) fn amount(method: &Method<'_>, kind: &Kind) -> Option<f64> {
    let amounts: Vec<f64> = method
        .finished()
        .filter_map(|(_, finished)| (kind.of)(finished.cost.as_ref()?, finished.members))
        .collect();
    (!amounts.is_empty()).then(|| mean(&amounts))
}

/// A score against a cost.
pub(crate) fn cost(chapter: &Chapter<'_>, first: &str) -> Option<Figure> {
    let wanted = [first, "nll", "accuracy", "ece", "brier", "rmse", "crps"];
    let mut scores: Vec<&str> = Vec::new();
    for name in wanted {
        let there = chapter.methods.iter().any(|m| m.mean("test", name).is_some());
        if there && !scores.contains(&name) {
            scores.push(name);
        }
    }
    let mut data = Data::new(&["method", "score", "cost", "#amount", "#value"]);
    for method in &chapter.methods {
        for kind in &KINDS {
            let Some(amount) = amount(method, kind).filter(|amount| *amount > 0.0) else {
                continue;
            };
            for score in &scores {
                let Some(value) = method.mean("test", score) else { continue };
                data.push(&[
                    method.name.into(),
                    (*score).into(),
                    kind.label.into(),
                    amount.into(),
                    value.into(),
                ]);
            }
        }
    }
    if data.is_empty() {
        return None;
    }
    let choices = vec![
        Choice {
            parameter: "score",
            label: "Score",
            options: scores.iter().map(|score| (*score).to_string()).collect(),
        },
        Choice {
            parameter: "cost",
            label: "Cost",
            options: KINDS.iter().map(|kind| kind.label.to_string()).collect(),
        },
    ];
    let tip = tooltip(&[
        ("method", "method", ""),
        ("cost", "cost", ""),
        ("amount", "amount", ".4g"),
        ("score", "score", ""),
        ("value", "value", ".4g"),
    ]);
    let spec = json!({
        "params": parameters(&choices),
        "data": data.into_value(),
        "transform": [{"filter": "datum.score === score && datum.cost === cost && isValid(datum.value)"}],
        "title": {"text": {"expr": "score + ' against ' + cost"}},
        "width": 460, "height": 290,
        "encoding": {
            "x": {"field": "amount", "type": "quantitative", "title": null, "scale": {"type": "log", "nice": true},
                  "axis": {"format": "~s", "tickCount": 6}},
            "y": {"field": "value", "type": "quantitative", "title": null, "scale": {"zero": false, "nice": true}},
            "color": colour(chapter),
            "opacity": opacity(1.0),
        },
        "layer": [
            {"mark": {"type": "point", "filled": true, "size": 90},
             "encoding": {"shape": marker(chapter), "tooltip": tip}},
            {"mark": {"type": "text", "align": "left", "dx": 8, "dy": -6, "fontSize": 10},
             "encoding": {"text": {"field": "method"}}},
        ],
    });
    Some(Figure {
        id: "cost",
        title: "What it costs".into(),
        how: "Choose a score and a cost. Of two methods at the same height take the one further to the left; \
              what lies to the right of a method and is no better can be crossed off."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("cost", "cost"),
            ("amount", "amount"),
            ("score", "score"),
            ("value", "value"),
        ],
    })
}
