//! Regression: predictions against targets.

use serde_json::json;

use crate::chapter::Chapter;
use crate::figure::{Data, Figure, colour, opacity, panels, tooltip};

/// Predictions with their intervals against targets, a point for each of a few hundred examples.
pub(crate) fn predictions(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut data = Data::new(["method", "#target", "#point", "#lo", "#hi"]);
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for method in &chapter.methods {
        // Of several runs the first: their test sets may differ.
        let view = method.finished().find_map(|(_, finished)| finished.view("test"));
        for own in view.iter().flat_map(|view| view.predicted.iter().flatten()) {
            let (lo, hi) = own.interval.unzip();
            (least, most) =
                (least.min(own.target.min(own.point)), most.max(own.target.max(own.point)));
            data.push([
                method.name.into(),
                own.target.into(),
                own.point.into(),
                lo.into(),
                hi.into(),
            ]);
        }
    }
    let data = data.unless_empty()?;
    let scale = json!({"zero": false, "nice": true});
    let x = json!({"field": "target", "type": "quantitative", "title": "target", "scale": scale,
        "axis": {"tickCount": 4, "format": ".3~s"}});
    let y = |field: &str| {
        json!({"field": field, "type": "quantitative", "title": "prediction", "scale": scale,
        "axis": {"tickCount": 4, "format": ".3~s"}})
    };
    let tip = tooltip(&[
        ("method", "method", ""),
        ("target", "target", ".4~g"),
        ("point", "prediction", ".4~g"),
        ("lo", "interval from", ".4~g"),
        ("hi", "to", ".4~g"),
    ]);
    let inner = json!({"layer": [
        {
            "mark": {"type": "rule", "strokeWidth": 1},
            "transform": [{"filter": "isValid(datum.lo)"}],
            "encoding": {"x": x, "y": y("lo"), "y2": {"field": "hi"}, "color": colour(chapter), "opacity": opacity(0.22)},
        },
        {
            "data": {"values": [{"at": least}, {"at": most}]},
            "mark": {"type": "line", "stroke": "var(--soft)", "strokeDash": [3, 3], "strokeWidth": 1},
            "encoding": {"x": {"field": "at", "type": "quantitative"}, "y": {"field": "at", "type": "quantitative"}},
        },
        {
            "mark": {"type": "circle", "size": 22},
            "encoding": {"x": x, "y": y("point"), "color": colour(chapter), "opacity": opacity(0.8), "tooltip": tip},
        },
    ]});
    let (spec, layout) = panels(chapter, data.into_value(), inner, 180);
    Some(Figure {
        id: "predictions",
        title: "Predictions against targets".into(),
        how: "Each point is an example, with the central interval of its prediction. On the dotted diagonal the \
              prediction is exact; intervals should grow where the points are far from it. Of many examples 400 at \
              most are shown, and of several runs the first."
            .into(),
        spec,
        layout,
        choices: Vec::new(),
        columns: vec![
            ("method", "method"),
            ("target", "target"),
            ("point", "prediction"),
            ("lo", "interval from"),
            ("hi", "to"),
        ],
    })
}
