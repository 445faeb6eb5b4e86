//! Any score of the test set, method by method, with its interval and its runs.

use serde_json::{Value, json};

use crate::chapter::Chapter;
use crate::figure::{Choice, Data, Figure, Layout, colour, marker, opacity, parameters, tooltip};
use crate::refused::may_be_compared;

/// Mean, interval and single runs of a score that the reader chooses.
pub(crate) fn scores(chapter: &Chapter<'_>, first: &str) -> Option<Figure> {
    if chapter.present().count() < 2 {
        return None;
    }
    let names = chapter.scores("test");
    let names = names.iter().map(|score| score.name);
    let mut names: Vec<&str> = names.filter(|name| may_be_compared(chapter, name)).collect();
    names.sort_by_key(|name| *name != first);
    let data = points(chapter, &names).unless_empty()?;
    let choices = vec![Choice::new("score", "Score", &names)];
    Some(Figure {
        id: "scores",
        title: "Any score, method by method".into(),
        how: "Choose a score: the marker is its mean, the line its 95 % interval over examples and runs, and the small \
              strokes are single runs. Intervals of two methods may overlap although the methods differ: the ranking \
              above compares them on the same examples, which is more precise."
            .into(),
        spec: spec(chapter, data, &choices),
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("score", "score"),
            ("kind", "mean or run"),
            ("value", "value"),
            ("lo", "from"),
            ("hi", "to"),
            ("std", "standard deviation over runs"),
        ],
    })
}

fn points(chapter: &Chapter<'_>, names: &[&str]) -> Data<8> {
    let mut data = Data::new(["method", "score", "kind", "#value", "#lo", "#hi", "#std", "#order"]);
    for name in names {
        let mut order: Vec<f64> =
            chapter.methods.iter().filter_map(|m| m.mean("test", name)).collect();
        order.sort_by(f64::total_cmp);
        for method in &chapter.methods {
            let Some(cell) = method.cell("test", name) else { continue };
            let Some(summary) = cell.summary() else { continue };
            let (lo, hi) = summary.interval.unzip();
            let rank = order.partition_point(|mean| *mean < summary.mean);
            data.push([
                method.name.into(),
                (*name).into(),
                "mean".into(),
                summary.mean.into(),
                lo.into(),
                hi.into(),
                summary.std.into(),
                rank.into(),
            ]);
            for value in summary.values.iter().filter(|_| summary.values.len() > 1) {
                let none = || None::<f64>.into();
                data.push([
                    method.name.into(),
                    (*name).into(),
                    "run".into(),
                    (*value).into(),
                    none(),
                    none(),
                    none(),
                    rank.into(),
                ]);
            }
        }
    }
    data
}

fn spec(chapter: &Chapter<'_>, data: Data<8>, choices: &[Choice]) -> Value {
    let tip = tooltip(&[
        ("method", "method", ""),
        ("score", "score", ""),
        ("value", "value", ".4~g"),
        ("lo", "from", ".4~g"),
        ("hi", "to", ".4~g"),
        ("std", "standard deviation over runs", ".2g"),
    ]);
    let sort = json!({"field": "order", "op": "min"});
    let y = json!({"field": "method", "type": "nominal", "title": null, "sort": sort});
    let x = |field: &str| json!({"field": field, "type": "quantitative", "title": null, "scale": {"zero": false}, "axis": {"format": ".4~g", "tickCount": 7}});
    json!({
        "params": parameters(choices),
        "data": data.into_value(),
        "transform": [{"filter": "datum.score === score && isValid(datum.value)"}],
        "title": {"text": {"expr": "score"}},
        "width": 460, "height": {"step": 20},
        "encoding": {"y": y, "color": colour(chapter)},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "transform": [{"filter": "datum.kind === 'mean' && isValid(datum.lo)"}],
                "encoding": {"x": x("lo"), "x2": {"field": "hi"}, "opacity": opacity(0.55)},
            },
            {
                "mark": {"type": "tick", "thickness": 1.5, "size": 9},
                "transform": [{"filter": "datum.kind === 'run'"}],
                "encoding": {"x": x("value"), "opacity": opacity(0.8)},
            },
            {
                "mark": {"type": "point", "filled": true, "size": 75},
                "transform": [{"filter": "datum.kind === 'mean'"}],
                "encoding": {"x": x("value"), "shape": marker(chapter), "opacity": opacity(1.0), "tooltip": tip},
            },
        ],
    })
}
