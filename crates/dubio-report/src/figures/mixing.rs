//! How uncertainty grows as out-of-distribution examples are mixed in.

use super::curves::{Axis, Lines, Points};
use crate::chapter::Chapter;
use crate::figure::{Choice, Data, Figure, Layout};

/// Mean uncertainty of a batch against the fraction of it that is out-of-distribution.
pub(crate) fn mixing(chapter: &Chapter<'_>) -> Option<Figure> {
    let mut sets: Vec<String> = Vec::new();
    let mut data = Data::new(["method", "ood", "#fraction", "#uncertainty"]);
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
    let choices = vec![Choice::new("ood", "OOD set", sets)];
    let lines = Lines {
        chapter,
        x: Axis::fraction("fraction", "fraction of OOD inputs"),
        y: Axis::fitted("uncertainty", "mean entropy / log C", ".2~f"),
        points: Points::Marked,
        choices: &choices,
        below: Vec::new(),
    };
    let spec = lines.spec(data);
    Some(Figure {
        id: "mixing",
        title: "Out-of-distribution inputs mixed in".into(),
        how: "The mean uncertainty of a batch as more and more of it is out-of-distribution. With a steep, \
              straight line the mean uncertainty of a batch tells how much of it is OOD."
            .into(),
        spec,
        layout: Layout::Wide,
        choices,
        columns: vec![
            ("method", "method"),
            ("ood", "OOD set"),
            ("fraction", "fraction of OOD inputs"),
            ("uncertainty", "mean entropy / log C"),
        ],
    })
}
