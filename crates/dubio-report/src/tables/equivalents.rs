//! What each method is worth in networks of a deep ensemble.

use dubio_metrics::card::Direction;
use dubio_metrics::dee::Equivalent;

use crate::chapter::Chapter;
use crate::figures::priced;
use crate::table::{Column, Field, Line, Rank, Table};
use crate::words::in_words;

/// Deep ensemble equivalents with all members, by the ranked score or the best that is known.
pub(crate) fn equivalents(chapter: &Chapter<'_>, headline: &str) -> Option<Table> {
    let priced = priced(chapter);
    let known = |score: &&str| priced.iter().any(|own| own.growth.score == **score);
    let score = [headline, "calibrated.nll", "brier", "nll"].into_iter().find(|s| known(s))?;
    let rows = priced.iter().filter(|own| own.growth.score == score).filter_map(|own| {
        let worth = own.worths.last()?;
        let method = chapter.methods.iter().find(|m| m.name == own.growth.method)?;
        let bound = |bound: Option<Equivalent>| {
            bound.map_or(
                Field::Missing(
                    "the standard deviation of the deep ensembles is not known there".into(),
                ),
                field,
            )
        };
        Some(Line {
            name: method.name.to_string(),
            style: Some(method.style),
            cells: vec![
                Field::plain(worth.n_samples as f64, 0),
                field(worth.dee),
                bound(worth.lower),
                bound(worth.upper),
            ],
        })
    });
    let column = |name: &str| Column {
        name: name.to_string(),
        direction: Direction::Neither,
        summary: String::new(),
    };
    let mut note = "Bounds: against the deep ensemble's score plus and minus its standard deviation (Ashukha et al. 2020, eq. 5)."
        .to_string();
    if let Some(own) = priced.iter().find(|own| own.growth.score == score && !own.improves) {
        let largest = own.largest;
        note += &format!(
            " By this score {largest} networks are no better than one, so the equivalents mean nothing here."
        );
    }
    Some(Table {
        id: "equivalents".into(),
        caption: format!("Deep ensemble equivalents by {}", in_words(score)),
        corner: "method",
        rows: rows.collect(),
        columns: ["members", "networks", "lower", "upper"].map(column).to_vec(),
        note,
        rank: Rank::First,
    })
}

fn field(equivalent: Equivalent) -> Field {
    match equivalent {
        Equivalent::MoreThan(most) => Field::Text(format!("> {most}")),
        Equivalent::Networks(networks) => Field::plain(networks, 1),
    }
}
