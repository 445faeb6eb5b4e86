//! Scores as the inputs get worse.

use std::collections::BTreeMap;

use super::curves::{Axis, Lines, Points};
use crate::chapter::{Chapter, Method};
use crate::figure::{Choice, Data, Figure, Layout};
use crate::summary::mean;

/// All shifts together.
pub(super) const ALL: &str = "mean of all shifts";

/// A shifted test set.
pub(super) struct Shifted<'a> {
    /// `shift.fog.3`.
    pub split: &'a str,
    /// `fog`.
    pub name: &'a str,
    /// 3.
    pub severity: usize,
}

/// The shifted test sets of a chapter, by name and severity.
pub(super) fn shifted<'a>(chapter: &Chapter<'a>) -> Vec<Shifted<'a>> {
    let parse = |split: &'a str| {
        let (name, severity) = split.strip_prefix("shift.")?.rsplit_once('.')?;
        Some(Shifted { split, name, severity: severity.parse().ok()? })
    };
    let mut all: Vec<Shifted<'a>> = chapter.splits().into_iter().filter_map(parse).collect();
    all.sort_by_key(|shifted| (shifted.name, shifted.severity));
    all
}

/// The names of shifts to choose from, all together first.
pub(super) fn choice(shifts: &[Shifted<'_>]) -> Choice {
    let mut options: Vec<String> = shifts.iter().map(|shifted| shifted.name.to_string()).collect();
    options.dedup();
    if options.len() > 1 {
        options.insert(0, ALL.to_string());
    }
    Choice { parameter: "shift", label: "Shift", options }
}

/// Scores against the severity of a corruption.
pub(crate) fn shift(chapter: &Chapter<'_>, headline: &str) -> Option<Figure> {
    let shifts = shifted(chapter);
    let mut scores: Vec<String> =
        chapter.scores(shifts.first()?.split).iter().map(|score| score.name.to_string()).collect();
    scores.sort_by_key(|name| (name != headline, name != "nll"));
    let shift = choice(&shifts);
    let score = Choice::new("score", "Score", scores);
    let mut data = Data::new(["method", "score", "shift", "#severity", "#value"]);
    for method in &chapter.methods {
        for score in &score.options {
            for (name, curve) in curves(method, score, &shifts) {
                for (severity, value) in curve {
                    data.push([
                        method.name.into(),
                        score[..].into(),
                        name.into(),
                        severity.into(),
                        value.into(),
                    ]);
                }
            }
        }
    }
    let severities = shifts.iter().map(|shifted| shifted.severity as f64).chain([0.0]);
    let choices = vec![score, shift];
    let lines = Lines {
        chapter,
        x: Axis::steps("severity", "severity (0: no shift)").ticks(severities),
        y: Axis::fitted("value", "", ".4~g"),
        points: Points::Marked,
        choices: &choices,
        below: Vec::new(),
    };
    let spec = lines.spec(data);
    Some(Figure {
        id: "shift",
        title: "Scores against the severity of a shift".into(),
        how: "How a score changes as the inputs are corrupted more and more. All models lose accuracy; with good \
              uncertainty estimates NLL and calibration degrade more slowly."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("score", "score"),
            ("shift", "shift"),
            ("severity", "severity"),
            ("value", "value"),
        ],
    })
}

/// The values of a score by severity for each shift, and for their mean; severity 0 is the test set.
fn curves<'s>(
    method: &Method<'_>,
    score: &str,
    shifts: &[Shifted<'s>],
) -> Vec<(&'s str, Vec<(usize, f64)>)> {
    let Some(plain) = method.mean("test", score) else { return Vec::new() };
    let mut by_name: BTreeMap<&'s str, Vec<(usize, f64)>> = BTreeMap::new();
    let mut together: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for shifted in shifts {
        let Some(value) = method.mean(shifted.split, score) else { continue };
        by_name
            .entry(shifted.name)
            .or_insert_with(|| vec![(0, plain)])
            .push((shifted.severity, value));
        together.entry(shifted.severity).or_default().push(value);
    }
    let mut all: Vec<(&str, Vec<(usize, f64)>)> = by_name.into_iter().collect();
    if all.len() > 1 {
        let means = together.iter().map(|(severity, values)| (*severity, mean(values)));
        all.push((ALL, [(0, plain)].into_iter().chain(means).collect()));
    }
    all
}
