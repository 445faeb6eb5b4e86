//! Scores as the inputs get worse.

use serde_json::json;

use super::curves::{Axis, lines};
use crate::chapter::Chapter;
use crate::figure::{Choice, Data, Figure, Layout, marker, opacity, tooltip};
use crate::summary::mean;

/// All shifts together.
const ALL: &str = "mean of all shifts";

/// Which of `shift.fog.3`: fog, 3.
pub(crate) fn parse(split: &str) -> Option<(&str, usize)> {
    let (name, severity) = split.strip_prefix("shift.")?.rsplit_once('.')?;
    Some((name, severity.parse().ok()?))
}

/// Scores against the severity of a corruption.
pub(crate) fn shift(chapter: &Chapter<'_>, headline: &str) -> Option<Figure> {
    let splits: Vec<(&str, &str, usize)> = chapter
        .splits()
        .into_iter()
        .filter_map(|split| parse(split).map(|(name, severity)| (split, name, severity)))
        .collect();
    let (first, ..) = *splits.first()?;
    let mut names: Vec<&str> = splits.iter().map(|(_, name, _)| *name).collect();
    names.dedup();
    names.sort_unstable();
    names.dedup();
    let mut scores: Vec<String> =
        chapter.scores(first).iter().map(|score| score.name.to_string()).collect();
    scores.sort_by_key(|name| (name != headline, name != "nll"));
    let mut data = Data::new(&["method", "score", "shift", "#severity", "#value"]);
    for method in &chapter.methods {
        for score in &scores {
            let plain = method.mean("test", score);
            let mut by_severity: Vec<(usize, Vec<f64>)> = Vec::new();
            for name in &names {
                data.push(&[
                    method.name.into(),
                    score[..].into(),
                    (*name).into(),
                    0.into(),
                    plain.into(),
                ]);
                for (split, _, severity) in splits.iter().filter(|(_, own, _)| own == name) {
                    let value = method.mean(split, score);
                    data.push(&[
                        method.name.into(),
                        score[..].into(),
                        (*name).into(),
                        (*severity).into(),
                        value.into(),
                    ]);
                    match by_severity.iter_mut().find(|(s, _)| s == severity) {
                        Some((_, values)) => values.extend(value),
                        None => by_severity.push((*severity, value.into_iter().collect())),
                    }
                }
            }
            data.push(&[method.name.into(), score[..].into(), ALL.into(), 0.into(), plain.into()]);
            for (severity, values) in by_severity.iter().filter(|(_, values)| !values.is_empty()) {
                data.push(&[
                    method.name.into(),
                    score[..].into(),
                    ALL.into(),
                    (*severity).into(),
                    mean(values).into(),
                ]);
            }
        }
    }
    let mut shifts: Vec<String> = names.iter().map(|name| (*name).to_string()).collect();
    if names.len() > 1 {
        shifts.insert(0, ALL.to_string());
    }
    let choices = vec![
        Choice { parameter: "score", label: "Score", options: scores },
        Choice { parameter: "shift", label: "Shift", options: shifts },
    ];
    let x =
        Axis { field: "severity", title: "severity (0: as they are)", format: "d", domain: None };
    let y = Axis { field: "value", title: "", format: "~g", domain: None };
    let mut spec = lines(chapter, data, &x, &y, &choices, Vec::new());
    let tip = tooltip(&[
        ("method", "method", ""),
        ("score", "score", ""),
        ("shift", "shift", ""),
        ("severity", "severity", "d"),
        ("value", "value", ".4f"),
    ]);
    if let Some(layers) = spec["layer"].as_array_mut() {
        layers.truncate(1);
        let mut points = layers[0].clone();
        points["mark"] = json!({"type": "point", "filled": true, "size": 55});
        points["encoding"]["shape"] = marker(chapter);
        points["encoding"]["opacity"] = opacity(1.0);
        points["encoding"]["tooltip"] = tip;
        if let Some(encoding) = points["encoding"].as_object_mut() {
            encoding.remove("strokeDash");
        }
        layers.push(points);
        for layer in layers.iter_mut() {
            layer["encoding"]["x"]["axis"] =
                json!({"tickMinStep": 1, "format": "d", "grid": false});
        }
    }
    spec["title"] = json!({"text": {"expr": "score + ', ' + shift"}});
    Some(Figure {
        id: "shift",
        title: "Under shift".into(),
        how: "How a score changes as the inputs are corrupted more and more. A model that knows what it does \
              not know loses accuracy like the others, but its likelihood and calibration get worse more \
              slowly."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("score", "score"),
            ("shift", "shift"),
            ("severity", "severity"),
            ("value", "value"),
        ],
    })
}
