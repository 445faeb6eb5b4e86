//! How uncertainty grows as foreign examples are mixed in.

use super::curves::{Axis, Lines, Points};
use crate::chapter::Chapter;
use crate::figure::{Choice, Data, Figure, Layout};

/// Mean uncertainty of a batch against the share of it that is foreign.
pub(crate) fn mixing(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut sets: Vec<String> = Vec::new();
    let mut data = Data::new(["method", "foreign", "#share", "#uncertainty"]);
    for split in chapter.splits() {
        let mixed = split.strip_prefix("mixing.").and_then(|rest| rest.rsplit_once('.'));
        let Some((set, percent)) = mixed else { continue };
        let Ok(percent) = percent.parse::<f64>() else { continue };
        for method in &chapter.methods {
            let uncertainty = method.mean(split, "batch_uncertainty");
            data.push([
                method.name.into(),
                set.into(),
                (percent / 100.0).into(),
                uncertainty.into(),
            ]);
        }
        if !sets.iter().any(|known| known == set) {
            sets.push(set.to_string());
        }
    }
    let data = data.unless_empty()?;
    let choices = vec![Choice::new("foreign", "Set from elsewhere", sets)];
    let lines = Lines {
        chapter,
        x: Axis::share("share", "share of foreign inputs"),
        y: Axis::fitted("uncertainty", "mean entropy / log C", ".2~f"),
        points: Points::Marked,
        choices: &choices,
        below: Vec::new(),
    };
    let spec = lines.spec(data);
    Some(Figure {
        id: "mixing",
        title: "Foreign inputs mixed in".into(),
        how: "The mean uncertainty of a batch as more and more of it comes from elsewhere. A steep, straight line is \
              a good sign: the batch as a whole tells how much of it is foreign."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("foreign", "set from elsewhere"),
            ("share", "share of foreign inputs"),
            ("uncertainty", "mean entropy / log C"),
        ],
    })
}
