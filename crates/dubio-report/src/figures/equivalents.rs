//! What a method is worth in networks of a deep ensemble.

use dubio_metrics::card::Direction;
use dubio_metrics::dee::{Equivalent, Falling, Worth, equivalents as worths};
use serde_json::json;

use super::curves::{Axis, Lines, Points};
use super::members::grown_scores;
use crate::chapter::Chapter;
use crate::figure::{Choice, Data, Figure, Layout, colour};
use crate::study::Growth;

/// Deep ensemble equivalents of a method by one score.
pub(crate) struct Priced<'a> {
    pub(crate) growth: &'a Growth,
    pub(crate) worths: Vec<Worth>,
    /// Networks of the largest ensemble that was scored.
    pub(crate) largest: usize,
    /// Whether that one is better than the smallest.
    pub(crate) improves: bool,
}

/// The equivalents of every method but the baseline, by every score that both have.
pub(crate) fn priced<'a>(chapter: &Chapter<'a>) -> Vec<Priced<'a>> {
    let Some(baseline) = chapter.baseline else { return Vec::new() };
    let against = |growth: &&'a Growth| {
        let own = |g: &&&Growth| g.method == baseline && g.score == growth.score;
        let points = &chapter.growth.iter().find(own)?.points;
        let direction = chapter.card(&growth.score).map_or(Direction::Lower, |card| card.direction);
        if growth.method == baseline || points.len() < 2 {
            return None;
        }
        let worths = worths(points, &growth.points, direction, Falling::Allowed)?;
        let (first, last) = (points.first()?, points.last()?);
        let improves = direction.badness(last.mean)? < direction.badness(first.mean)?;
        Some(Priced { growth, worths, largest: last.n_samples, improves })
    };
    chapter.growth.iter().filter_map(against).collect()
}

/// Deep ensemble equivalents against the number of members, with bounds.
pub(crate) fn equivalents(chapter: &Chapter<'_>, headline: &str) -> Option<Figure> {
    let priced = priced(chapter);
    let known = |score: &String| priced.iter().any(|p| p.growth.score == *score);
    let scores: Vec<String> = grown_scores(chapter, headline).into_iter().filter(known).collect();
    let mut data =
        Data::new(["method", "score", "#members", "#networks", "#lower", "#upper", "beyond"]);
    for own in &priced {
        for worth in &own.worths {
            let capped =
                |equivalent: Equivalent| equivalent.networks().unwrap_or(own.largest as f64);
            let beyond = worth.dee.networks().is_none();
            data.push([
                own.growth.method[..].into(),
                own.growth.score[..].into(),
                worth.n_samples.into(),
                capped(worth.dee).into(),
                worth.lower.map(capped).into(),
                worth.upper.map(capped).into(),
                if beyond { "more than that" } else { "" }.into(),
            ]);
        }
    }
    let data = data.unless_empty()?;
    let all = priced.iter().flat_map(|own| &own.worths);
    let numbers: Vec<f64> = all.map(|worth| worth.n_samples as f64).collect();
    let choices = vec![Choice::new("score", "Score", scores)];
    // The bands of many methods would hide one another: each is seen when its method is chosen.
    let few = if priced.len() <= 3 * choices[0].options.len() { 0.12 } else { 0.0 };
    let bounds = json!({
        "condition": [
            {"test": "datum.method === isolated", "value": 0.25},
            {"test": "isolated === ''", "value": few},
        ],
        "value": 0,
    });
    let band = json!({
        "mark": {"type": "area", "clip": true},
        "transform": [{"filter": "isValid(datum.lower) && isValid(datum.upper)"}],
        "encoding": {
            "y": {"field": "lower", "type": "quantitative", "title": "networks of a deep ensemble"},
            "y2": {"field": "upper"}, "fill": colour(chapter), "opacity": bounds,
        },
    });
    let lines = Lines {
        chapter,
        x: Axis::doubling("members", "members").ticks(numbers),
        y: Axis::fitted("networks", "networks of a deep ensemble", ".3~g"),
        points: Points::Marked,
        choices: &choices,
        below: vec![band],
    };
    let spec = lines.spec(data);
    Some(Figure {
        id: "equivalents",
        title: "Deep ensemble equivalents".into(),
        how: "The size of the deep ensemble that scores as well as the method with this many members. Choose a method to \
              see the band of one standard deviation of the deep ensembles' score. Points at the upper end may be worth \
              more: nothing is extrapolated beyond the largest ensemble."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("score", "score"),
            ("members", "members"),
            ("networks", "equivalent networks"),
            ("lower", "lower"),
            ("upper", "upper"),
            ("beyond", ""),
        ],
    })
}
