//! What may not be compared, why, who showed it, and what to do instead.

use serde::Serialize;

use super::stability::Stability;
use crate::card::{Card, Ranked};
use crate::classification;
use crate::scorecard::composite;

/// A comparison that would mislead.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Caution {
    /// What is not compared, or not as it stands.
    pub what: String,
    /// Why.
    pub why: String,
    /// What to do instead.
    pub instead: String,
    /// Who showed it.
    pub reference: &'static str,
}

/// Why classifiers may not be ranked by a score, or by one of a family or pattern of names; `None` where they may.
pub fn forbidden(score: &str) -> Option<Caution> {
    let plain = score.strip_prefix("calibrated.").unwrap_or(score);
    match card(plain)?.facts.ranked {
        Ranked::Never => incomparable(score),
        Ranked::Calibrated if plain == score => Some(Caution {
            what: format!("a ranking by `{score}`"),
            why: "without temperature scaling the order of likelihoods depends on how well each temperature happens to be set".into(),
            instead: format!("rank by `calibrated.{score}`"),
            reference: "Ashukha et al. 2020, sec. 3.1",
        }),
        Ranked::Calibrated | Ranked::Freely => None,
    }
}

/// Why classifiers may not even stand side by side with a score; `None` where they may.
pub fn incomparable(score: &str) -> Option<Caution> {
    let plain = score.strip_prefix("calibrated.").unwrap_or(score);
    (card(plain)?.facts.ranked == Ranked::Never).then(|| Caution {
        what: format!("`{score}` side by side"),
        why: "each model has its own errors to detect, so each solves a different problem".into(),
        instead: "compare `aurc`, or detection of the same OOD examples (`ood`)".into(),
        reference: "Ashukha et al. 2020, sec. 3.2",
    })
}

/// The card of a score of classifiers, or of the first of a family (`misclassification`) or pattern.
fn card(asked: &str) -> Option<&'static Card> {
    let family = asked.trim_end_matches('*').trim_end_matches('.');
    let belongs = |name: &str| {
        name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let scores = classification::scores();
    let found = scores.iter().find(|score| belongs(&score.name())).map(|score| score.card());
    found.or_else(|| composite::CARDS.into_iter().find(|card| card.name == asked))
}

/// Warns that likelihoods as they are order the methods differently from likelihoods at the best
/// temperatures; `plain` and `calibrated` are the methods' `nll` and `calibrated.nll`.
pub(super) fn uncalibrated_order(
    plain: &[Option<f64>],
    calibrated: &[Option<f64>],
) -> Option<Caution> {
    let pairs = (0..plain.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let turned = pairs.filter(|&(a, b)| {
        let gap = |values: &[Option<f64>]| Some(values[a]? - values[b]?);
        gap(plain).zip(gap(calibrated)).is_some_and(|(x, y)| x * y < 0.0)
    });
    let count = turned.count();
    let caution = forbidden("nll").filter(|_| count > 0)?;
    let pairs = match count {
        1 => "1 pair of methods changes".to_string(),
        _ => format!("{count} pairs of methods change"),
    };
    let why = format!("{}; here {pairs} order", caution.why);
    Some(Caution { why, ..caution })
}

/// Warns that the methods do not make the same number of forward passes; `members` are these numbers.
pub fn unequal_passes(names: &[String], members: &[usize]) -> Option<Caution> {
    let first = members.first()?;
    if members.iter().all(|count| count == first) {
        return None;
    }
    let each = names.iter().zip(members).map(|(name, count)| format!("{name} {count}"));
    Some(Caution {
        what: format!("unequal numbers of forward passes: {}", each.collect::<Vec<_>>().join(", ")),
        why: "more members are better and cost more, whatever the method".into(),
        instead:
            "compare equal numbers (`--members N`), or deep ensemble equivalents (`dubio dee`)"
                .into(),
        reference: "Ashukha et al. 2020, sec. 4",
    })
}

impl Stability {
    /// Warns that the order by this score depends on the number of bins.
    pub fn bins_caution(&self, names: &[String]) -> Option<Caution> {
        let flip = self.flips.first()?;
        let (a, b) = (&names[flip.a], &names[flip.b]);
        let others = match self.flips.len() {
            1 => String::new(),
            more => format!(", and {} more pairs", more - 1),
        };
        Some(Caution {
            what: format!("a ranking by `{}`", self.score),
            why: format!(
                "the order depends on the number of bins: {a} is better with {}, {b} with {}{others}",
                flip.a_at, flip.b_at
            ),
            instead: "rank by `calibrated.nll`; `ks` and `mmce` measure calibration without bins"
                .into(),
            reference: "the UCE paper 2021, fig. 1; Ashukha et al. 2020, sec. 3.4 and fig. 2",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pairs_that_change_order_are_told() {
        let told = |plain: [f64; 3], calibrated: [f64; 3]| {
            uncalibrated_order(&plain.map(Some), &calibrated.map(Some)).map(|caution| caution.why)
        };
        assert_eq!(told([1.0, 2.0, 3.0], [0.1, 0.2, 0.3]), None);
        assert_eq!(told([1.0, 1.0, 3.0], [0.2, 0.1, 0.3]), None, "equal ones have no order");
        let why = told([1.0, 2.0, 3.0], [0.2, 0.1, 0.3]).expect("a pair");
        assert!(why.contains("here 1 pair of methods changes order"), "{why}");
        let why = told([1.0, 2.0, 3.0], [0.3, 0.2, 0.1]).expect("three");
        assert!(why.contains("here 3 pairs of methods change order"), "{why}");
    }
}
