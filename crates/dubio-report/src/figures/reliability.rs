//! Accuracy against confidence, a panel for each method.

use dubio_metrics::curves::reliability::ReliabilityBin;
use serde_json::{Value, json};

use crate::chapter::{Chapter, Method};
use crate::figure::{Data, Figure, opacity, panels, tooltip};
use crate::proportion::{Z95, wilson};
use crate::view::RELIABILITY_BINS;

/// Reliability diagrams with counts and intervals, over- and underconfidence shaded.
pub(crate) fn reliability(chapter: &Chapter<'_>) -> Option<Figure> {
    let data = points(chapter).unless_empty()?;
    let (spec, layout) = panels(chapter, data.into_value(), inner(chapter.present().count()), 132);
    Some(Figure {
        id: "reliability",
        title: "Reliability".into(),
        how: "Each dash is the accuracy of the examples predicted with about that confidence, with its 95 % interval. On \
              the dotted diagonal confidence equals accuracy; below it (orange) the model is overconfident, above it \
              (blue) underconfident. The grey bars at the bottom show how the examples are distributed; bins with few \
              examples are faint."
            .into(),
        spec,
        layout,
        choices: Vec::new(),
        columns: vec![
            ("method", "method"),
            ("from", "confidence above"),
            ("to", "up to"),
            ("confidence", "mean confidence"),
            ("accuracy", "accuracy"),
            ("lo", "95 % from"),
            ("hi", "to"),
            ("count", "examples"),
        ],
    })
}

fn points(chapter: &Chapter<'_>) -> Data<11> {
    let mut data = Data::new([
        "method",
        "#from",
        "#to",
        "#confidence",
        "#accuracy",
        "#lo",
        "#hi",
        "#count",
        "#fraction",
        "#weight",
        "gap",
    ]);
    for method in &chapter.methods {
        let bins = pooled(method);
        let whole = bins.iter().map(|bin| bin.count).sum::<usize>() as f64;
        for (index, bin) in bins.iter().enumerate().filter(|(_, bin)| bin.count > 0) {
            let edge = |i: usize| i as f64 / RELIABILITY_BINS as f64;
            let gap =
                if bin.confidence > bin.accuracy { "overconfident" } else { "underconfident" };
            let (lo, hi) = wilson(bin.accuracy, bin.count, Z95);
            data.push([
                method.name.into(),
                edge(index).into(),
                edge(index + 1).into(),
                bin.confidence.into(),
                bin.accuracy.into(),
                lo.into(),
                hi.into(),
                bin.count.into(),
                (bin.count as f64 / whole).into(),
                weight(bin.count).into(),
                gap.into(),
            ]);
        }
    }
    data
}

/// The layers of a panel; one that stands alone has room for more ticks and wider dashes.
fn inner(panels: usize) -> Value {
    let (ticks, dash) = match panels {
        1 => (json!([0, 0.2, 0.4, 0.6, 0.8, 1]), 22),
        _ => (json!([0, 0.5, 1]), 9),
    };
    let unit = json!({"domain": [0, 1], "nice": false});
    let axis = json!({"values": ticks, "format": ".1f"});
    let x = json!({"field": "from", "type": "quantitative", "title": "confidence", "scale": unit, "axis": axis});
    let y = |field: &str| json!({"field": field, "type": "quantitative", "title": "accuracy", "scale": unit, "axis": axis});
    let tip = tooltip(&[
        ("method", "method", ""),
        ("confidence", "mean confidence", ".3f"),
        ("accuracy", "accuracy", ".3f"),
        ("lo", "95 % from", ".3f"),
        ("hi", "to", ".3f"),
        ("count", "examples", ",d"),
        ("gap", "gap", ""),
    ]);
    let gaps = json!({
        "field": "gap", "type": "nominal", "title": "gap",
        "scale": {"domain": ["overconfident", "underconfident"], "range": ["var(--over)", "var(--under)"]},
    });
    let middle = || json!([{"calculate": "(datum.from + datum.to) / 2", "as": "middle"}]);
    let at_middle = || json!({"field": "middle", "type": "quantitative"});
    json!({"layer": [
        {
            "mark": {"type": "rect", "fill": "var(--soft)"},
            "transform": [
                {"calculate": "0.3 * datum.fraction", "as": "strip"},
                {"calculate": "0", "as": "floor"},
            ],
            "encoding": {
                "x": x, "x2": {"field": "to"}, "y": y("floor"), "y2": {"field": "strip"},
                "opacity": opacity(0.35),
            },
        },
        {
            "mark": {"type": "rect"},
            "encoding": {
                "x": x, "x2": {"field": "to"}, "y": y("confidence"), "y2": {"field": "accuracy"},
                "fill": gaps, "opacity": weighted(0.5), "tooltip": tip,
            },
        },
        {
            "data": {"values": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]},
            "mark": {"type": "line", "stroke": "var(--soft)", "strokeDash": [3, 3], "strokeWidth": 1},
            "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 1, "color": "var(--ink)"},
            "transform": middle(),
            "encoding": {"x": at_middle(), "y": y("lo"), "y2": {"field": "hi"}, "opacity": weighted(0.7)},
        },
        {
            "mark": {"type": "tick", "orient": "horizontal", "thickness": 2, "size": dash, "color": "var(--ink)"},
            "transform": middle(),
            "encoding": {"x": at_middle(), "y": y("accuracy"), "opacity": weighted(1.0), "tooltip": tip},
        },
    ]})
}

/// As strong as `full` where a bin rests on many examples, and faint for methods that are set aside.
fn weighted(full: f64) -> Value {
    json!({
        "condition": {"test": "isolated !== '' && datum.method !== isolated", "value": 0.04},
        "field": "weight", "type": "quantitative", "legend": null,
        "scale": {"domain": [0, 1], "range": [0.1 * full, full]},
    })
}

/// How much a bin counts for the eye: half for twenty examples, nearly nothing for one.
fn weight(count: usize) -> f64 {
    count as f64 / (count as f64 + 20.0)
}

/// The bins of all runs together.
fn pooled(method: &Method<'_>) -> Vec<ReliabilityBin> {
    let mut bins = vec![ReliabilityBin::default(); RELIABILITY_BINS];
    let views = method.finished().filter_map(|(_, finished)| finished.view("test"));
    for own in views.filter_map(|view| view.reliability.as_ref()) {
        for (all, bin) in bins.iter_mut().zip(own) {
            let count = bin.count as f64;
            all.count += bin.count;
            all.confidence += count * bin.confidence;
            all.accuracy += count * bin.accuracy;
        }
    }
    for bin in bins.iter_mut().filter(|bin| bin.count > 0) {
        bin.confidence /= bin.count as f64;
        bin.accuracy /= bin.count as f64;
    }
    bins
}
