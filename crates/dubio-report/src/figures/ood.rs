//! How uncertain the predictions are on out-of-distribution inputs: histograms of the entropy.

use serde_json::{Value, json};

use crate::chapter::{Chapter, Method};
use crate::figure::{Choice, Data, Figure, Layout, names, opacity, parameters, tooltip};
use crate::view::{BINS, View};

/// The OOD sets that some run predicted, without `ood.`.
pub(crate) fn ood_sets<'a>(chapter: &Chapter<'a>) -> Vec<&'a str> {
    chapter.splits().into_iter().filter_map(|split| split.strip_prefix("ood.")).collect()
}

/// Histograms of the predictive entropy on the test set and on an OOD set, a panel for each method.
pub(crate) fn ood(chapter: &Chapter<'_>) -> Option<Figure> {
    let sets = ood_sets(chapter);
    let data = points(chapter, &sets).unless_empty()?;
    let choices = vec![Choice::new("ood", "OOD set", &sets)];
    Some(Figure {
        id: "ood",
        title: "Uncertainty on out-of-distribution inputs".into(),
        how: "Histograms of the predictive entropy: blue for the test set, orange for out-of-distribution inputs. The \
              further the orange lies to the right of the blue, the better OOD inputs can be detected. (Heights on a \
              square-root scale.)"
            .into(),
        spec: spec(chapter, data, &choices),
        layout: Layout::Panels(132),
        choices,
        columns: vec![
            ("method", "method"),
            ("ood", "OOD set"),
            ("set", "inputs"),
            ("from", "entropy / log C from"),
            ("to", "to"),
            ("fraction", "fraction of examples"),
        ],
    })
}

fn points(chapter: &Chapter<'_>, sets: &[&str]) -> Data<6> {
    let mut data = Data::new(["method", "ood", "set", "#from", "#to", "#fraction"]);
    for method in &chapter.methods {
        for set in sets {
            for (kind, split) in [("test", "test"), ("OOD", &format!("ood.{set}")[..])] {
                for (bin, fraction) in entropies(method, split).into_iter().enumerate() {
                    let edge = |i: usize| i as f64 / BINS as f64;
                    data.push([
                        method.name.into(),
                        (*set).into(),
                        kind.into(),
                        edge(bin).into(),
                        edge(bin + 1).into(),
                        fraction.into(),
                    ]);
                }
            }
        }
    }
    data
}

fn spec(chapter: &Chapter<'_>, data: Data<6>, choices: &[Choice]) -> Value {
    let names = names(chapter);
    json!({
        "params": parameters(choices),
        "data": data.into_value(),
        "transform": [{"filter": "datum.ood === ood"}],
        "facet": {"field": "method", "type": "nominal", "title": null, "sort": names},
        "columns": 5,
        "spacing": {"row": 14, "column": 18},
        "spec": {
            "width": 132, "height": 90,
            "mark": {"type": "bar", "binSpacing": 0},
            "encoding": {
                "x": {"field": "from", "type": "quantitative", "title": "entropy / log C", "bin": "binned",
                      "scale": {"domain": [0, 1]}, "axis": {"values": [0, 0.5, 1], "format": ".1f"}},
                "x2": {"field": "to"},
                "y": {"field": "fraction", "type": "quantitative", "title": "fraction", "stack": null,
                      "scale": {"type": "sqrt"},
                      "axis": {"values": [0.05, 0.2, 0.5, 0.8], "format": "~p"}},
                "fill": {"field": "set", "type": "nominal", "title": "inputs",
                         "scale": {"domain": ["test", "OOD"], "range": ["var(--under)", "var(--over)"]}},
                "opacity": opacity(0.5),
                "tooltip": tooltip(&[("method", "method", ""), ("set", "inputs", ""),
                    ("from", "entropy from", ".2f"), ("to", "to", ".2f"), ("fraction", "fraction", ".1%")]),
            },
        },
    })
}

fn entropies(method: &Method<'_>, split: &str) -> Vec<f64> {
    let views: Vec<&View> =
        method.finished().filter_map(|(_, finished)| finished.view(split)).collect();
    let all: Vec<&Vec<f64>> = views.iter().filter_map(|view| view.entropy.as_ref()).collect();
    match all.len() {
        0 => Vec::new(),
        n => (0..BINS).map(|bin| all.iter().map(|e| e[bin]).sum::<f64>() / n as f64).collect(),
    }
}
