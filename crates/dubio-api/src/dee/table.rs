//! Scores against the number of samples, from a table.

use std::path::Path;

use dubio_metrics::dee::Point;
use dubio_predictions::input;
use dubio_predictions::lines::{records, table};
use dubio_words::unknown;

use super::{Curve, Settings};
use crate::Error;
use crate::error::refuse;

/// One line of the table.
struct Line {
    curve: [String; 4],
    n_samples: usize,
    value: f64,
    std: Option<f64>,
}

/// The curves of a table, of the scores that were asked for.
pub(super) fn curves(settings: &Settings, path: &Path) -> Result<Vec<Curve>, Error> {
    let lines = lines(path)?;
    let mut metrics: Vec<String> = lines.iter().map(|line| line.curve[3].clone()).collect();
    metrics.sort();
    metrics.dedup();
    for score in &settings.scores {
        if !metrics.contains(score) {
            let there = metrics.join(", ");
            refuse!("{}: there is no metric `{score}`; there are {there}", path.display());
        }
    }
    if !lines.iter().any(|line| line.curve[2] == settings.baseline) {
        let mut methods: Vec<String> = lines.iter().map(|line| line.curve[2].clone()).collect();
        methods.sort();
        methods.dedup();
        let methods = methods.iter().map(String::as_str);
        refuse!("{}: {}", path.display(), unknown("method", &settings.baseline, methods));
    }
    let sizes = || lines.iter().map(|line| line.n_samples);
    settings.check_samples(|n| sizes().any(|size| size == n), sizes().max().unwrap_or(0))?;
    let wanted =
        |line: &&Line| settings.scores.is_empty() || settings.scores.contains(&line.curve[3]);
    let mut keys: Vec<&[String; 4]> = Vec::new();
    let mut grouped: Vec<Vec<&Line>> = Vec::new();
    for line in lines.iter().filter(wanted) {
        match keys.iter().position(|key| **key == line.curve) {
            Some(at) => grouped[at].push(line),
            None => {
                keys.push(&line.curve);
                grouped.push(vec![line]);
            }
        }
    }
    Ok(keys.into_iter().zip(grouped).map(|(key, lines)| curve(key, &lines)).collect())
}

fn curve(key: &[String; 4], lines: &[&Line]) -> Curve {
    let mut sizes: Vec<usize> = lines.iter().map(|line| line.n_samples).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let point = |n: usize| {
        let own: Vec<&&Line> = lines.iter().filter(|line| line.n_samples == n).collect();
        match own[..] {
            [line] => Point { n_samples: n, mean: line.value, std: line.std },
            _ => Point::of(n, &own.iter().map(|line| line.value).collect::<Vec<f64>>()),
        }
    };
    let [dataset, model, method, metric] = key.clone();
    let points = sizes.into_iter().map(point).collect();
    Curve { dataset: Some(dataset), model: Some(model), method, metric, points }
}

fn lines(path: &Path) -> Result<Vec<Line>, Error> {
    let file = input::open(path)
        .map_err(Error::file(format!("cannot read the table {}", path.display())))?;
    let (builder, text) = table(file, b',').map_err(Error::file(path.display().to_string()))?;
    let mut reader = builder.from_reader(text);
    let head = reader.headers().map_err(Error::file(path.display().to_string()))?.clone();
    let column = |name: &str| head.iter().position(|own| own == name);
    let needed = |name: &str| {
        column(name).ok_or_else(|| {
            let there: Vec<&str> = head.iter().collect();
            let (path, there) = (path.display(), there.join(", "));
            Error::Unfit(format!("{path}: there is no column `{name}`; there are {there}"))
        })
    };
    let names = [needed("dataset")?, needed("model")?, needed("method")?, needed("metric")?];
    let (n_samples, value, std) = (needed("n_samples")?, needed("value")?, column("std"));
    let mut lines = Vec::new();
    for record in records(&mut reader) {
        let (line, record) = record.map_err(Error::file(path.display().to_string()))?;
        let place = |what: &str, text: &str| {
            Error::Unfit(format!("{}, line {line}: `{text}` is no {what}", path.display()))
        };
        let text = |at: usize| record.get(at).unwrap_or_default();
        let known = std.map(text).filter(|text| !matches!(*text, "" | "NA" | "nan" | "NaN"));
        let std = known.map(|text| {
            let value = text.parse().ok().filter(|std: &f64| *std >= 0.0);
            value.ok_or_else(|| place("standard deviation", text))
        });
        let size = text(n_samples).parse().ok().filter(|n: &usize| *n > 0);
        let number = text(value).parse().ok().filter(|v: &f64| !v.is_nan());
        lines.push(Line {
            curve: names.map(|at| text(at).to_string()),
            n_samples: size.ok_or_else(|| place("number of samples", text(n_samples)))?,
            value: number.ok_or_else(|| place("value", text(value)))?,
            std: std.transpose()?,
        });
    }
    if lines.is_empty() {
        refuse!("{}: there are no rows below the header", path.display());
    }
    Ok(lines)
}
