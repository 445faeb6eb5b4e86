//! Scores against the number of members.

use serde_json::json;

use super::curves::{Axis, lines};
use crate::chapter::{Chapter, Method};
use crate::figure::{Choice, Data, Figure, Layout};
use crate::summary::mean;

/// How a score grows with the number of members.
pub(crate) fn members(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut scores: Vec<&str> = Vec::new();
    for growth in chapter.finished().flat_map(|(_, finished)| &finished.growth) {
        if growth.points.len() > 1 && !scores.contains(&&growth.score[..]) {
            scores.push(&growth.score);
        }
    }
    let mut data = Data::new(&["method", "score", "#members", "#value"]);
    for method in &chapter.methods {
        for score in &scores {
            for (members, value) in grown(method, score) {
                data.push(&[method.name.into(), (*score).into(), members.into(), value.into()]);
            }
        }
    }
    if data.is_empty() {
        return None;
    }
    let choices = vec![Choice {
        parameter: "score",
        label: "Score",
        options: scores.iter().map(|score| (*score).to_string()).collect(),
    }];
    let x = Axis { field: "members", title: "members", format: "d", domain: None };
    let y = Axis { field: "value", title: "", format: "~g", domain: None };
    let mut spec = lines(chapter, data, &x, &y, &choices, Vec::new());
    for layer in spec["layer"].as_array_mut().into_iter().flatten() {
        layer["encoding"]["x"]["scale"] = json!({"type": "log", "base": 2, "nice": false});
    }
    if let Some(layers) = spec["layer"].as_array_mut() {
        // A method of one member is a point.
        layers[0]["mark"]["point"] = json!({"size": 28, "filled": true});
    }
    spec["title"] = json!({"text": {"expr": "score"}});
    Some(Figure {
        id: "members",
        title: "How many members it takes".into(),
        how: "The score of the first 1, 2, 4, ... members. Where a curve becomes flat, more members, and so more \
              forward passes, bring nothing."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("score", "score"),
            ("members", "members"),
            ("value", "value"),
        ],
    })
}

/// The mean over runs at each number of members.
fn grown(method: &Method<'_>, score: &str) -> Vec<(usize, f64)> {
    let mut by_members: std::collections::BTreeMap<usize, Vec<f64>> = Default::default();
    for growth in method.finished().flat_map(|(_, finished)| &finished.growth) {
        for (members, value) in growth.points.iter().filter(|_| growth.score == score) {
            by_members.entry(*members).or_default().push(*value);
        }
    }
    by_members.into_iter().map(|(members, values)| (members, mean(&values))).collect()
}
