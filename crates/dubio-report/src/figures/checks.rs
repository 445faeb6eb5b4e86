//! Posterior predictive checks: could these labels have come from the model itself?

use dubio_metrics::check::Mode;
use serde_json::{Value, json};

use super::curves::title;
use crate::chapter::Chapter;
use crate::figure::{Choice, Data, Figure, Layout, names, opacity, parameters, tooltip};

/// Boxes of what the model expects of a score, with a cross where the score is.
pub(crate) fn checks(chapter: &Chapter<'_>) -> Option<Figure> {
    let (data, choices) = points(chapter);
    Some(Figure {
        id: "checks",
        title: "Posterior predictive checks".into(),
        how: "The box shows the scores that the model expects: labels are drawn from it many times and scored as the \
              true ones are (whiskers: 5th to 95th percentile). The cross is the score on the true labels; it is red \
              if it lies outside the central 95 % of the simulated scores. A cross far from its box means that the \
              model's uncertainty does not match its errors. In the Bayesian reading one unknown member is correct, so \
              a wider range of scores is expected. Of several runs the first is shown."
            .into(),
        spec: spec(chapter, data.unless_empty()?, &choices),
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("statistic", "statistic"),
            ("inputs", "inputs"),
            ("reading", "reading"),
            ("observed", "observed"),
            ("p5", "5th percentile"),
            ("p25", "25th"),
            ("p50", "median"),
            ("p75", "75th"),
            ("p95", "95th"),
            ("p", "two-sided p"),
            ("verdict", "verdict"),
        ],
    })
}

/// The boxes, and what there is to choose from.
fn points(chapter: &Chapter<'_>) -> (Data<12>, Vec<Choice>) {
    let mut data = Data::new([
        "method",
        "statistic",
        "inputs",
        "reading",
        "#observed",
        "#p5",
        "#p25",
        "#p50",
        "#p75",
        "#p95",
        "#p",
        "verdict",
    ]);
    let [mut statistics, mut inputs, mut readings] = [const { Vec::new() }; 3];
    for method in &chapter.methods {
        let mut runs = method.finished().map(|(_, finished)| &finished.checks);
        for check in runs.find(|checks| !checks.is_empty()).into_iter().flatten() {
            let summary = &check.summary;
            let (Some(observed), Some(boxed)) = (summary.observed, summary.box_plot) else {
                continue;
            };
            let verdict = match summary.passes {
                Some(true) => "passes",
                Some(false) => "fails",
                None => "no verdict",
            };
            let [p5, p25, p50, p75, p95] = boxed;
            data.push([
                method.name.into(),
                summary.statistic[..].into(),
                check.split[..].into(),
                reading(check.mode).into(),
                observed.into(),
                p5.into(),
                p25.into(),
                p50.into(),
                p75.into(),
                p95.into(),
                summary.p_two_sided.into(),
                verdict.into(),
            ]);
            note(&mut statistics, &summary.statistic);
            note(&mut inputs, &check.split);
            note(&mut readings, reading(check.mode));
        }
    }
    let choices = vec![
        Choice::new("statistic", "Statistic", statistics),
        Choice::new("inputs", "Inputs", inputs),
        Choice::new("reading", "Reading of the ensemble", readings),
    ];
    (data, choices)
}

fn spec(chapter: &Chapter<'_>, data: Data<12>, choices: &[Choice]) -> Value {
    let names = names(chapter);
    let tip = tooltip(&[
        ("method", "method", ""),
        ("statistic", "statistic", ""),
        ("observed", "observed", ".4~g"),
        ("p5", "expected from", ".4~g"),
        ("p95", "to", ".4~g"),
        ("p", "two-sided p", ".3f"),
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
    json!({
        "params": parameters(choices),
        "data": data.into_value(),
        "transform": [{"filter": "datum.statistic === statistic && datum.inputs === inputs && datum.reading === reading"}],
        "title": title(choices),
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
    })
}

/// What a way of generating data is called in the list of choices.
pub(crate) fn reading(mode: Mode) -> &'static str {
    match mode {
        Mode::Bayesian => "Bayesian: one member is correct",
        Mode::Independent => "independent: a member per label",
    }
}

fn note(known: &mut Vec<String>, name: &str) {
    if !known.iter().any(|own| own == name) {
        known.push(name.to_string());
    }
}
