//! Scores against the number of members.

use super::curves::{Axis, Lines, Points};
use crate::chapter::Chapter;
use crate::figure::{Choice, Data, Figure, Layout};

/// The scores that are known for several numbers of members, the headline first.
pub(super) fn grown_scores(chapter: &Chapter<'_>, headline: &str) -> Vec<String> {
    let mut scores: Vec<String> = Vec::new();
    for growth in chapter.growth.iter().filter(|growth| growth.points.len() > 1) {
        if !scores.contains(&growth.score) {
            scores.push(growth.score.clone());
        }
    }
    scores.sort_by_key(|score| score != headline);
    scores
}

/// How a score changes with the number of members.
pub(crate) fn members(chapter: &Chapter<'_>, headline: &str) -> Option<Figure> {
    let scores = grown_scores(chapter, headline);
    let mut data = Data::new(["method", "score", "#members", "#value", "#std"]);
    for growth in chapter.growth.iter().filter(|growth| scores.contains(&growth.score)) {
        for point in &growth.points {
            data.push([
                growth.method[..].into(),
                growth.score[..].into(),
                point.n_samples.into(),
                point.mean.into(),
                point.std.into(),
            ]);
        }
    }
    let data = data.unless_empty()?;
    let points = chapter.growth.iter().flat_map(|growth| &growth.points);
    let numbers: Vec<f64> = points.map(|point| point.n_samples as f64).collect();
    let choices = vec![Choice::new("score", "Score", scores)];
    let lines = Lines {
        chapter,
        x: Axis::doubling("members", "members").ticks(numbers),
        y: Axis::fitted("value", "", ".4~g"),
        points: Points::Marked,
        choices: &choices,
        below: Vec::new(),
    };
    let spec = lines.spec(data);
    Some(Figure {
        id: "members",
        title: "Scores against the number of members".into(),
        how: "The score with fewer members, averaged over random subsets. Where a curve becomes flat, more members, and \
              so more forward passes, bring no improvement."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("score", "score"),
            ("members", "members"),
            ("value", "value"),
            ("std", "standard deviation over runs and subsets"),
        ],
    })
}
