//! How far scores say the same.

use dubio_metrics::card::Direction;
use dubio_metrics::compare::{correlations, incomparable};
use serde_json::{Value, json};

use crate::chapter::Chapter;
use crate::figure::{Data, Figure, Layout, parameters, tooltip};

/// Fewer methods than this make no figure.
const LEAST: usize = 5;

/// Rank correlation of every pair of scores over the methods.
pub(crate) fn correlation(chapter: &Chapter<'_>) -> Option<Figure> {
    let names: Vec<String> = chapter
        .scores("test")
        .iter()
        .filter(|score| score.direction != Direction::Neither && incomparable(score.name).is_none())
        .filter(|score| !score.name.contains('.') || score.name == "calibrated.nll")
        .map(|score| score.name.to_string())
        .collect();
    if chapter.present().count() < LEAST || names.len() < 2 {
        return None;
    }
    // Signed so that more is worse for every score: then 1 always means that two scores agree.
    let worse = |name: &String| {
        let direction = chapter.card(name).map_or(Direction::Lower, |card| card.direction);
        let badness = |mean: f64| direction.badness(mean).filter(|b| b.is_finite());
        chapter.methods.iter().map(|m| m.mean("test", name).and_then(badness)).collect()
    };
    let values: Vec<Vec<Option<f64>>> = names.iter().map(worse).collect();
    let mut data = Data::new(["a", "b", "#agreement", "#methods"]);
    for pair in correlations(&names, &values) {
        let Some(spearman) = pair.spearman else { continue };
        for (a, b) in [(&pair.a, &pair.b), (&pair.b, &pair.a)] {
            data.push([a[..].into(), b[..].into(), spearman.into(), pair.n.into()]);
        }
    }
    let data = data.unless_empty()?;
    Some(Figure {
        id: "correlation",
        title: "Which scores agree".into(),
        how: "Spearman rank correlation of two scores over the methods, with signs such that blue means they prefer the \
              same methods and orange that they disagree. With few methods much of this is chance."
            .into(),
        spec: spec(&names, data),
        layout: Layout::Fixed,
        choices: Vec::new(),
        columns: vec![("a", "score"), ("b", "and"), ("agreement", "rank correlation"), ("methods", "methods")],
    })
}

fn spec(names: &[String], data: Data<4>) -> Value {
    let axis = |field: &str, angle: i32| {
        json!({
            "field": field, "type": "nominal", "title": null, "sort": names,
            "axis": {"labelAngle": angle, "grid": false, "ticks": false, "domain": false},
        })
    };
    json!({
        "params": parameters(&[]),
        "data": data.into_value(),
        "width": {"step": 19}, "height": {"step": 19},
        "mark": {"type": "rect", "cornerRadius": 2},
        "encoding": {
            "x": axis("a", -60), "y": axis("b", 0),
            "fill": {
                "field": "agreement", "type": "quantitative", "title": "rank correlation",
                "scale": {
                    "type": "threshold", "domain": [-0.6, -0.2, 0.2, 0.6],
                    "range": ["#c2410c", "#e9a583", "var(--rule)", "#8fb4ea", "#1d5fc2"],
                },
                "legend": {"type": "symbol", "format": ".1f", "symbolType": "square"},
            },
            "tooltip": tooltip(&[("a", "score", ""), ("b", "and", ""), ("agreement", "rank correlation", ".2f"),
                ("methods", "methods", "d")]),
        },
    })
}
