//! Regression: the histogram of the probability integral transform.

use serde_json::json;

use crate::chapter::{Chapter, Method};
use crate::figure::{Data, Figure, colour, opacity, panels, tooltip};
use crate::proportion::{Z95, wilson};
use crate::view::PIT_BINS;

/// Where the targets lie in their predicted distributions.
pub(crate) fn pit(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut data = Data::new(["method", "#from", "#to", "#density"]);
    let mut fewest = usize::MAX;
    for method in &chapter.methods {
        let Some((fractions, examples)) = pooled(method) else { continue };
        fewest = fewest.min(examples);
        for (bin, fraction) in fractions.iter().enumerate() {
            let edge = |i: usize| i as f64 / PIT_BINS as f64;
            data.push([
                method.name.into(),
                edge(bin).into(),
                edge(bin + 1).into(),
                (fraction * PIT_BINS as f64).into(),
            ]);
        }
    }
    let data = data.unless_empty()?;
    let (lo, hi) = wilson(1.0 / PIT_BINS as f64, fewest, Z95);
    let (lo, hi) = (lo * PIT_BINS as f64, hi * PIT_BINS as f64);
    let x = json!({"field": "from", "type": "quantitative", "title": "F(target)",
        "scale": {"domain": [0, 1], "nice": false}, "axis": {"values": [0, 0.5, 1], "format": ".1f"}});
    let y = json!({"field": "density", "type": "quantitative", "title": "density", "scale": {"zero": true},
        "axis": {"tickCount": 4}});
    let tip = tooltip(&[
        ("method", "method", ""),
        ("from", "F from", ".2f"),
        ("to", "to", ".2f"),
        ("density", "density", ".2f"),
    ]);
    let inner = json!({"layer": [
        {
            "data": {"values": [{"lo": lo, "hi": hi}]},
            "mark": {"type": "rect", "fill": "var(--faint)"},
            "encoding": {"y": {"field": "lo", "type": "quantitative"}, "y2": {"field": "hi"}},
        },
        {
            "mark": {"type": "bar", "binSpacing": 1},
            "encoding": {"x": x, "x2": {"field": "to"}, "y": y, "fill": colour(chapter), "opacity": opacity(0.75), "tooltip": tip},
        },
        {
            "data": {"values": [{"one": 1}]},
            "mark": {"type": "rule", "stroke": "var(--soft)", "strokeDash": [3, 3]},
            "encoding": {"y": {"field": "one", "type": "quantitative"}},
        },
    ]});
    let (spec, layout) = panels(chapter, data.into_value(), inner, 150);
    Some(Figure {
        id: "pit",
        title: "PIT histogram".into(),
        how: "The predicted distribution function at each target. Flat, within the grey band that 95 % of the bars of a \
              calibrated model stay in, is right; U-shaped means that the distributions are too narrow, a hump that \
              they are too wide, a slope that they are biased."
            .into(),
        spec,
        layout,
        choices: Vec::new(),
        columns: vec![("method", "method"), ("from", "F(target) from"), ("to", "to"), ("density", "density")],
    })
}

/// The mean histogram over runs, and the number of examples of all of them.
fn pooled(method: &Method<'_>) -> Option<(Vec<f64>, usize)> {
    let views = method.finished().filter_map(|(_, finished)| finished.view("test"));
    let all: Vec<(&Vec<f64>, usize)> =
        views.filter_map(|view| Some((view.pit.as_ref()?, view.examples))).collect();
    let whole: usize = all.iter().map(|(_, examples)| examples).sum();
    let mean = |bin: usize| {
        let weighted = all.iter().map(|(own, examples)| own[bin] * *examples as f64);
        weighted.sum::<f64>() / whole as f64
    };
    (whole > 0).then(|| ((0..PIT_BINS).map(mean).collect(), whole))
}
