//! A line for each method, over shares from 0 to 1: what several figures have in common.

use serde_json::{Value, json};

use crate::chapter::{Chapter, Method};
use crate::figure::{Choice, Data, colour, dash, opacity, parameters, tooltip};
use crate::view::{POINTS, View, share};

/// An axis of a curve.
pub(super) struct Axis {
    pub field: &'static str,
    pub title: &'static str,
    pub format: &'static str,
    /// The ends that are always shown; `None` to fit the data.
    pub domain: Option<[f64; 2]>,
}

impl Axis {
    pub(super) fn encoding(&self) -> Value {
        let scale = match self.domain {
            Some(domain) => json!({"domain": domain, "nice": false}),
            None => json!({"zero": false, "nice": true}),
        };
        let axis = json!({"format": self.format});
        json!({"field": self.field, "type": "quantitative", "title": self.title, "scale": scale, "axis": axis})
    }
}

/// Lines by method, dashed by what else tells them apart, with a point under the pointer.
pub(super) fn lines(
    chapter: &Chapter<'_>,
    data: Data,
    x: &Axis,
    y: &Axis,
    choices: &[Choice],
    below: Vec<Value>,
) -> Value {
    let tip = tooltip(&[
        ("method", "method", ""),
        (x.field, x.title, x.format),
        (y.field, y.title, ".4f"),
    ]);
    let encoding = json!({"x": x.encoding(), "y": y.encoding(), "color": colour(chapter)});
    let mut layers = below;
    layers.push(json!({
        "mark": {"type": "line", "strokeWidth": 1.75, "clip": true, "strokeJoin": "round"},
        "encoding": {"strokeDash": dash(chapter), "opacity": opacity(1.0)},
    }));
    // Wide and invisible: what the pointer meets.
    layers.push(json!({
        "mark": {"type": "circle", "size": 90, "opacity": 0, "clip": true},
        "encoding": {"tooltip": tip},
    }));
    for layer in &mut layers {
        let own = layer["encoding"].as_object().cloned().unwrap_or_default();
        let mut all = encoding.as_object().cloned().unwrap_or_default();
        if layer.get("data").is_some() {
            all.remove("color");
        }
        all.extend(own);
        layer["encoding"] = Value::Object(all);
    }
    let filters: Vec<Value> = choices
        .iter()
        .map(|c| json!({"filter": format!("datum.{0} === {0}", c.parameter)}))
        .collect();
    json!({
        "params": parameters(choices),
        "data": data.into_value(),
        "transform": filters,
        "width": 460, "height": 290,
        "layer": layers,
    })
}

/// The dotted line from corner to corner.
pub(super) fn diagonal(x: &str, y: &str) -> Value {
    json!({
        "data": {"values": [{x: 0, y: 0}, {x: 1, y: 1}]},
        "mark": {"type": "line", "stroke": "var(--soft)", "strokeDash": [3, 3], "strokeWidth": 1},
    })
}

/// A curve of every method, averaged over its runs: `(share, value)` for each point.
pub(super) fn mean_curve(
    method: &Method<'_>,
    split: &str,
    curve: impl Fn(&View) -> Option<&Vec<f64>>,
) -> Vec<(f64, f64)> {
    let views: Vec<&View> =
        method.finished().filter_map(|(_, finished)| finished.view(split)).collect();
    let curves: Vec<&Vec<f64>> = views.iter().filter_map(|view| curve(view)).collect();
    if curves.is_empty() {
        return Vec::new();
    }
    let mean = |i: usize| curves.iter().map(|c| c[i]).sum::<f64>() / curves.len() as f64;
    (0..POINTS).map(|i| (share(i), mean(i))).collect()
}
