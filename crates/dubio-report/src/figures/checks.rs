//! Posterior predictive checks: could these labels have come from the model itself?

use serde_json::json;

use super::curves::title;
use crate::chapter::Chapter;
use crate::figure::{Choice, Data, Figure, Layout, opacity, parameters, tooltip};

/// Boxes of what the model expects of a score, with a cross where the score is.
pub(crate) fn checks(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut statistics: Vec<String> = Vec::new();
    let mut data = Data::new([
        "method",
        "statistic",
        "#observed",
        "#p5",
        "#p25",
        "#p50",
        "#p75",
        "#p95",
        "#p",
        "verdict",
    ]);
    for method in &chapter.methods {
        let Some((_, first)) = method.finished().next() else { continue };
        for check in &first.checks {
            let (Some(observed), Some(boxed)) = (check.observed, check.box_plot) else { continue };
            let verdict = match check.passes {
                Some(true) => "passes",
                Some(false) => "fails",
                None => "no verdict",
            };
            let [p5, p25, p50, p75, p95] = boxed;
            data.push([
                method.name.into(),
                check.statistic[..].into(),
                observed.into(),
                p5.into(),
                p25.into(),
                p50.into(),
                p75.into(),
                p95.into(),
                check.p_value.into(),
                verdict.into(),
            ]);
            if !statistics.contains(&check.statistic) {
                statistics.push(check.statistic.clone());
            }
        }
    }
    if data.is_empty() {
        return None;
    }
    let choices = vec![Choice { parameter: "statistic", label: "Statistic", options: statistics }];
    let names: Vec<&str> = chapter.methods.iter().map(|m| m.name).collect();
    let tip = tooltip(&[
        ("method", "method", ""),
        ("statistic", "statistic", ""),
        ("observed", "observed", ".4~g"),
        ("p5", "expected from", ".4~g"),
        ("p95", "to", ".4~g"),
        ("p", "share of replicates below", ".3f"),
        ("verdict", "verdict", ""),
    ]);
    let y = json!({"field": "method", "type": "nominal", "title": null, "sort": names});
    let x = |field: &str| {
        json!({
            "field": field, "type": "quantitative", "title": null, "scale": {"zero": false},
            "axis": {"format": ".4~g", "tickCount": 7},
        })
    };
    let verdicts = json!({
        "field": "verdict", "type": "nominal", "title": "observed",
        "scale": {"domain": ["passes", "fails"], "range": ["var(--good)", "var(--over)"]},
    });
    let spec = json!({
        "params": parameters(&choices),
        "data": data.into_value(),
        "transform": [{"filter": "datum.statistic === statistic"}],
        "title": title(&choices),
        "width": 460, "height": {"step": 20},
        "encoding": {"y": y},
        "layer": [
            {"mark": {"type": "rule", "color": "var(--soft)"},
             "encoding": {"x": x("p5"), "x2": {"field": "p95"}, "opacity": opacity(1.0)}},
            {"mark": {"type": "bar", "color": "var(--soft)", "height": 9},
             "encoding": {"x": x("p25"), "x2": {"field": "p75"}, "opacity": opacity(0.6), "tooltip": tip}},
            {"mark": {"type": "tick", "color": "var(--ink)", "thickness": 2, "size": 11},
             "encoding": {"x": x("p50"), "opacity": opacity(1.0)}},
            {"mark": {"type": "point", "shape": "M-1,-1L1,1M-1,1L1,-1", "size": 60, "strokeWidth": 2.5},
             "encoding": {"x": x("observed"), "stroke": verdicts, "opacity": opacity(1.0), "tooltip": tip}},
        ],
    });
    Some(Figure {
        id: "checks",
        title: "Posterior predictive checks".into(),
        how: "The box is what the model expects of its own score: labels are drawn from it a thousand times and \
              scored as the true ones are (whiskers from the 5th to the 95th percentile). The cross is the score on \
              the true labels. A cross far off its box says that the model does not know how wrong it is. Of \
              several runs the first is shown."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("statistic", "statistic"),
            ("observed", "observed"),
            ("p5", "5th percentile"),
            ("p25", "25th"),
            ("p50", "median"),
            ("p75", "75th"),
            ("p95", "95th"),
            ("p", "p-value"),
            ("verdict", "verdict"),
        ],
    })
}
