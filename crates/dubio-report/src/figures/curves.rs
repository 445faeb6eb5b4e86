//! Lines by method: what several figures have in common.

use serde_json::{Map, Value, json};

use crate::chapter::{Chapter, Method};
use crate::figure::{
    Choice, Data, colour, dash, dash_unexplained, marker, opacity, parameters, tooltip,
};
use crate::view::{POINTS, View, fraction};

/// An axis of a curve.
pub(super) struct Axis {
    pub field: &'static str,
    pub title: &'static str,
    format: &'static str,
    scale: Value,
    axis: Value,
}

impl Axis {
    /// An axis of fractions, from 0 to 1.
    pub(super) fn fraction(field: &'static str, title: &'static str) -> Self {
        Self::within(field, title, [0.0, 1.0])
    }

    /// An axis of fractions, with these ends.
    pub(super) fn within(field: &'static str, title: &'static str, ends: [f64; 2]) -> Self {
        let scale = json!({"domain": ends, "nice": false});
        Self { field, title, format: ".0%", scale, axis: json!({"format": "~p", "tickCount": 6}) }
    }

    /// An axis fitted to the range of the data.
    pub(super) fn fitted(field: &'static str, title: &'static str, format: &'static str) -> Self {
        let scale = json!({"zero": false, "nice": true});
        Self { field, title, format, scale, axis: json!({"format": format, "tickCount": 6}) }
    }

    /// An axis of whole numbers on a logarithmic scale.
    pub(super) fn doubling(field: &'static str, title: &'static str) -> Self {
        let scale = json!({"type": "log", "base": 2, "nice": false, "padding": 12});
        Self { field, title, format: "d", scale, axis: json!({"format": "d", "tickCount": 7}) }
    }

    /// An axis of a few whole numbers.
    pub(super) fn steps(field: &'static str, title: &'static str) -> Self {
        let scale = json!({"zero": false, "nice": false, "padding": 12});
        Self { field, title, format: "d", scale, axis: json!({"format": "d", "tickMinStep": 1}) }
    }

    /// With a tick at each value; on a logarithmic axis, only at values that are a third larger than the last one kept.
    pub(super) fn ticks(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        let mut all: Vec<f64> = values.into_iter().collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        let logarithmic = self.scale["type"] == "log";
        let mut kept: Vec<f64> = Vec::new();
        for value in all {
            let near = kept.last().is_some_and(|last| logarithmic && value < 1.34 * last);
            if !near {
                kept.push(value);
            }
        }
        self.axis["values"] = json!(kept);
        self
    }

    /// Replaces the scale.
    pub(super) fn scale(&mut self, scale: Value) {
        self.scale = scale;
    }

    pub(super) fn encoding(&self) -> Value {
        json!({
            "field": self.field, "type": "quantitative", "title": self.title,
            "scale": self.scale, "axis": self.axis,
        })
    }
}

/// What marks the points of a curve.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Points {
    /// The method's marker.
    Marked,
    /// Nothing: there are many.
    Plain,
}

/// Lines by method over two axes.
pub(super) struct Lines<'a> {
    pub chapter: &'a Chapter<'a>,
    pub x: Axis,
    pub y: Axis,
    pub points: Points,
    pub choices: &'a [Choice],
    /// Layers below the lines.
    pub below: Vec<Value>,
}

impl Lines<'_> {
    pub(super) fn spec<const N: usize>(&self, data: Data<N>) -> Value {
        let mut filters: Vec<Value> = self
            .choices
            .iter()
            .map(|c| json!({"filter": format!("datum.{0} === {0}", c.parameter)}))
            .collect();
        filters.push(json!({"filter": format!("isValid(datum.{})", self.y.field)}));
        let mut layers = self.below.clone();
        layers.extend([self.lines(), self.marks()]);
        let mut spec = json!({
            "params": parameters(self.choices),
            "data": data.into_value(),
            "transform": filters,
            "width": 460, "height": 290,
            "encoding": {"x": self.x.encoding(), "y": self.y.encoding()},
            "layer": layers,
        });
        if let Some(title) = title(self.choices) {
            spec["title"] = title;
        }
        spec
    }

    fn lines(&self) -> Value {
        let dash = match self.points {
            Points::Marked => dash_unexplained(self.chapter),
            Points::Plain => dash(self.chapter),
        };
        json!({
            "mark": {"type": "line", "strokeWidth": 1.75, "clip": true, "strokeJoin": "round"},
            "encoding": {
                "color": colour(self.chapter), "strokeDash": dash, "opacity": opacity(1.0),
            },
        })
    }

    /// What the pointer meets; seen only where points are marked.
    fn marks(&self) -> Value {
        let tip = tooltip(&[
            ("method", "method", ""),
            (self.x.field, self.x.title, self.x.format),
            (self.y.field, self.y.title, ".4~g"),
        ]);
        match self.points {
            Points::Marked => json!({
                "mark": {"type": "point", "filled": true, "size": 50, "clip": true},
                "encoding": {
                    "color": colour(self.chapter), "shape": marker(self.chapter),
                    "opacity": opacity(1.0), "tooltip": tip,
                },
            }),
            Points::Plain => json!({
                "name": "hover",
                "mark": {"type": "circle", "size": 90, "opacity": 0, "clip": true},
                "encoding": {"detail": {"field": "method"}, "tooltip": tip},
            }),
        }
    }
}

/// What was chosen, as the title of the plot; `None` where there is no choice.
pub(super) fn title(choices: &[Choice]) -> Option<Value> {
    let offered: Vec<&str> =
        choices.iter().filter(|c| c.options.len() > 1).map(|c| c.parameter).collect();
    (!offered.is_empty()).then(|| json!({"text": {"expr": offered.join(" + ', ' + ")}}))
}

/// The dotted line from corner to corner.
pub(super) fn diagonal(x: &str, y: &str) -> Value {
    let end = |at: u8| {
        Value::Object(Map::from_iter([(x.to_string(), json!(at)), (y.to_string(), json!(at))]))
    };
    json!({
        "data": {"values": [end(0), end(1)]},
        "mark": {"type": "line", "stroke": "var(--soft)", "strokeDash": [3, 3], "strokeWidth": 1},
    })
}

/// A curve of a method, averaged over its runs: `(fraction, value)` for each point.
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
    (0..POINTS).map(|i| (fraction(i), mean(i))).collect()
}

/// The splits that some run has such a view of.
pub(super) fn splits_with<'a>(chapter: &Chapter<'a>, has: impl Fn(&View) -> bool) -> Vec<&'a str> {
    let seen = |split: &&str| {
        chapter.finished().any(|(_, finished)| finished.view(split).is_some_and(&has))
    };
    chapter.splits().into_iter().filter(seen).collect()
}

/// A choice of inputs.
pub(super) fn inputs(splits: &[&str]) -> Choice {
    let options = splits.iter().map(|split| (*split).to_string()).collect();
    Choice { parameter: "inputs", label: "Inputs", options }
}

/// The fraction that has to be left out for every method's error to be below a thousandth, plus 0.05,
/// rounded up to tenths and at least 0.2: the part where nothing more happens is not shown.
pub(super) fn interesting(chapter: &Chapter<'_>) -> f64 {
    let needed = |method: &Method<'_>| {
        let curve = mean_curve(method, "test", |view| view.risk.as_ref());
        let wrong = curve.iter().rev().find(|(_, error)| *error < 1e-3);
        wrong.map_or(1.0, |(kept, _)| 1.0 - kept)
    };
    let most = chapter.present().map(needed).fold(0.0, f64::max);
    (10.0 * most + 0.5).ceil().clamp(2.0, 10.0) / 10.0
}
