//! Which classes are mistaken for which.

use serde_json::{Value, json};

use crate::chapter::{Chapter, Method};
use crate::figure::{Choice, Data, Figure, Layout, parameters, tooltip};

/// A confusion matrix: true classes by predicted ones, as fractions of the true class.
pub(crate) fn confusion(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut data = Data::new(["method", "truth", "predicted", "#count", "#fraction", "#labels"]);
    let (mut methods, mut classes) = (Vec::new(), 0);
    for method in &chapter.methods {
        let Some(matrix) = pooled(method) else { continue };
        methods.push(method.name);
        classes = classes.max(matrix.len());
        for (truth, row) in matrix.iter().enumerate() {
            let labels: usize = row.iter().sum();
            for (predicted, &count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
                data.push([
                    method.name.into(),
                    truth.to_string()[..].into(),
                    predicted.to_string()[..].into(),
                    count.into(),
                    (count as f64 / labels as f64).into(),
                    labels.into(),
                ]);
            }
        }
    }
    let data = data.unless_empty()?;
    let choices = vec![Choice::new("shown", "Method", methods)];
    Some(Figure {
        id: "confusion",
        title: "Confusion matrix".into(),
        how: "Each row is a true class; each cell is the fraction of its examples that are predicted as the class of \
              the column. The diagonal is correct. Of several runs the sum is shown."
            .into(),
        spec: spec(classes, data, &choices),
        layout: Layout::Fixed,
        choices,
        columns: vec![
            ("method", "method"),
            ("truth", "true class"),
            ("predicted", "predicted class"),
            ("count", "examples"),
            ("fraction", "fraction of the true class"),
        ],
    })
}

/// The matrices of all runs together.
fn pooled(method: &Method<'_>) -> Option<Vec<Vec<usize>>> {
    let views = method.finished().filter_map(|(_, finished)| finished.view("test"));
    let mut matrices = views.filter_map(|view| view.confusion.clone());
    let first = matrices.next()?;
    Some(matrices.fold(first, |mut all, own| {
        for (all, own) in all.iter_mut().flatten().zip(own.iter().flatten()) {
            *all += own;
        }
        all
    }))
}

fn spec(classes: usize, data: Data<6>, choices: &[Choice]) -> Value {
    let names: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
    let axis = |field: &str, title: &str| {
        json!({
            "field": field, "type": "nominal", "title": title, "sort": names,
            "scale": {"domain": names},
            "axis": {"labelAngle": 0, "grid": false, "ticks": false, "domain": false},
        })
    };
    let tip = tooltip(&[
        ("method", "method", ""),
        ("truth", "true class", ""),
        ("predicted", "predicted class", ""),
        ("count", "examples", ",d"),
        ("fraction", "fraction of the true class", ".1%"),
    ]);
    let mut spec = json!({
        "params": parameters(choices),
        "data": data.into_value(),
        "transform": [{"filter": "datum.method === shown"}],
        "width": {"step": 19}, "height": {"step": 19},
        "mark": {"type": "rect", "cornerRadius": 2, "fill": "var(--under)"},
        "encoding": {
            "x": axis("predicted", "predicted class"), "y": axis("truth", "true class"),
            "opacity": {
                "field": "fraction", "type": "quantitative", "title": "fraction of the true class",
                "scale": {"type": "threshold", "domain": [0.02, 0.1, 0.3, 0.6, 0.85], "range": [0.1, 0.2, 0.38, 0.56, 0.78, 1]},
                "legend": {"format": ".0%", "symbolType": "square", "symbolFillColor": "var(--under)", "symbolStrokeWidth": 0},
            },
            "tooltip": tip,
        },
    });
    if choices[0].options.len() > 1 {
        spec["title"] = json!({"text": {"expr": "shown"}});
    }
    spec
}
