//! Scores under attack.

use super::curves::{Axis, Lines, Points};
use crate::chapter::Chapter;
use crate::figure::{Choice, Data, Figure, Layout};

/// Scores against the size of an adversarial change.
pub(crate) fn attack(chapter: &Chapter<'_>, headline: &str) -> Option<Figure> {
    let parse = |split: &'_ str| {
        let (rule, epsilon) = split.strip_prefix("attack.")?.split_once('.')?;
        Some((rule.to_string(), epsilon.parse::<f64>().ok()?))
    };
    let splits = chapter.splits();
    let attacks: Vec<(&str, (String, f64))> =
        splits.iter().filter_map(|split| Some((*split, parse(split)?))).collect();
    let mut scores: Vec<String> =
        chapter.scores(attacks.first()?.0).iter().map(|score| score.name.to_string()).collect();
    scores.sort_by_key(|name| (name != headline, name != "accuracy"));
    let mut rules: Vec<String> = attacks.iter().map(|(_, (rule, _))| rule.clone()).collect();
    rules.sort();
    rules.dedup();
    let mut data = Data::new(["method", "score", "attack", "#epsilon", "#value"]);
    for method in &chapter.methods {
        for score in &scores {
            for (split, (rule, epsilon)) in &attacks {
                data.push([
                    method.name.into(),
                    score[..].into(),
                    rule[..].into(),
                    (*epsilon).into(),
                    method.mean(split, score).into(),
                ]);
            }
        }
    }
    let choices =
        vec![Choice::new("score", "Score", scores), Choice::new("attack", "Attack", rules)];
    let lines = Lines {
        chapter,
        x: Axis::fitted("epsilon", "epsilon: largest change of an input", ".3~g"),
        y: Axis::fitted("value", "", ".4~g"),
        points: Points::Marked,
        choices: &choices,
        below: Vec::new(),
    };
    let spec = lines.spec(data);
    Some(Figure {
        id: "attack",
        title: "Scores under adversarial attack".into(),
        how: "Each input is changed by up to epsilon in the direction that increases the loss most. Accuracy falls; what \
              matters is whether confidence falls with it."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("score", "score"),
            ("attack", "attack"),
            ("epsilon", "largest change"),
            ("value", "value"),
        ],
    })
}
