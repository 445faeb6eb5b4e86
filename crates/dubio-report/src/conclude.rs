//! What to conclude of each method, in one sentence.

use dubio_metrics::check::Mode;

use crate::chapter::{Chapter, Method};
use crate::number::{shown, two_digits};
use crate::ranking::{Ranking, Standing, listed};
use crate::warnings::capital;

/// A sentence on the method at an index of a ranking.
pub fn conclude(chapter: &Chapter<'_>, ranking: &Ranking<'_>, index: usize) -> String {
    let method = &ranking.standings[index].method;
    let clauses = [
        position(ranking, index),
        confidence(method),
        intervals(method),
        checks(method),
        detection(chapter, method),
    ];
    let known: Vec<String> = clauses.into_iter().flatten().collect();
    capital(&known.join("; ")) + "."
}

fn position(ranking: &Ranking<'_>, index: usize) -> Option<String> {
    let standing = &ranking.standings[index];
    let rest = &ranking.standings[1..];
    if rest.is_empty() {
        return None;
    }
    let Some(behind) = &standing.behind else {
        let equals: Vec<&str> =
            rest.iter().filter(|s| s.may_be_first()).map(|s| s.method.name).collect();
        return Some(match equals.len() {
            0 => "better than every other by more than chance".to_string(),
            n if n == rest.len() => "first, but no other is worse by more than chance".to_string(),
            1..=2 => format!("first, but {} may be as good", listed(&equals)),
            n => format!("first, but {n} others may be as good"),
        });
    };
    let first = ranking.standings[0].method.name;
    Some(match behind.interval {
        _ if !behind.value.is_finite() => {
            format!("its {} is infinite: it ruled out what happened", ranking.score)
        }
        Some((lo, hi)) if !behind.may_be_chance() => {
            let [value, lo, hi] = two_digits([behind.value, lo, hi]);
            let most = |s: &Standing<'_>| s.summary.values.len();
            let all = most(standing).max(most(&ranking.standings[0]));
            let shared = if behind.runs < all { " on the runs that both have" } else { "" };
            format!("worse than {first} by {value} ({lo} to {hi}){shared}")
        }
        _ => format!("may be as good as {first}"),
    })
}

/// Whether its confidence can be believed, from `sece` and its interval.
fn confidence(method: &Method<'_>) -> Option<String> {
    let cell = method.cell("test", "sece")?;
    let summary = cell.summary()?;
    let (lo, hi) = summary.interval?;
    let points = shown(100.0 * summary.mean.abs(), 1);
    Some(match summary.mean {
        _ if lo <= 0.0 && hi >= 0.0 => "as confident as it is accurate, on average".to_string(),
        m if m < 0.0 => format!("overconfident by {points} points"),
        _ => format!("underconfident by {points} points"),
    })
}

/// Whether its intervals hold what they promise, from `picp` and its interval.
fn intervals(method: &Method<'_>) -> Option<String> {
    let cell = method.cell("test", "picp")?;
    let summary = cell.summary()?;
    let (lo, hi) = summary.interval?;
    let inside = shown(100.0 * summary.mean, 1);
    let how = match 0.95 {
        promised if promised < lo => ": too wide",
        promised if promised > hi => ": too narrow",
        _ => ", as promised",
    };
    Some(format!("its 95 % intervals hold {inside} % of the targets{how}"))
}

/// Whether it knows how wrong it is, from posterior predictive checks.
fn checks(method: &Method<'_>) -> Option<String> {
    let checks = method.finished().flat_map(|(_, finished)| &finished.checks);
    let own = checks.filter(|check| check.split == "test" && check.mode == Mode::Bayesian);
    let verdicts: Vec<bool> = own.filter_map(|check| check.summary.passes).collect();
    let failed = verdicts.iter().filter(|passes| !**passes).count();
    match (failed, verdicts.len()) {
        (_, 0) => None,
        (0, 1) => Some("passes its posterior predictive check".to_string()),
        (0, _) => Some("passes all posterior predictive checks".to_string()),
        (failed, all) if failed == all => {
            Some("fails every posterior predictive check".to_string())
        }
        (failed, all) => Some(format!("fails {failed} of {all} posterior predictive checks")),
    }
}

/// How well it detects out-of-distribution inputs: said of the best, and of those that are bad at it.
fn detection(chapter: &Chapter<'_>, method: &Method<'_>) -> Option<String> {
    let own = least_area(chapter, method)?;
    let others = chapter.methods.iter().filter_map(|other| least_area(chapter, other));
    let best = others.fold(own, f64::max);
    let area = shown(own, 2);
    match own {
        a if a < 0.6 => Some(format!("hardly notices out-of-distribution inputs (AUROC {area})")),
        a if a < 0.75 => Some(format!("misses many out-of-distribution inputs (AUROC {area})")),
        a if a == best && chapter.present().count() > 1 => {
            Some(format!("best at noticing out-of-distribution inputs (AUROC {area})"))
        }
        _ if chapter.present().count() == 1 => {
            Some(format!("notices out-of-distribution inputs with an AUROC of {area}"))
        }
        _ => None,
    }
}

/// The AUROC of the entropy on the OOD set where it is least.
fn least_area(chapter: &Chapter<'_>, method: &Method<'_>) -> Option<f64> {
    let scores = chapter.scores("test");
    let areas = scores
        .iter()
        .filter(|score| score.name.starts_with("ood.") && score.name.ends_with(".auroc.total"))
        .filter_map(|score| method.mean("test", score.name));
    areas.reduce(f64::min)
}

/// What the whole ranking says, in a sentence or two.
pub fn headline(chapter: &Chapter<'_>, ranking: &Ranking<'_>) -> String {
    let Some((first, rest)) = ranking.standings.split_first() else {
        return "No run has predictions that could be ranked.".to_string();
    };
    let name = first.method.name;
    if rest.is_empty() {
        return alone(chapter, &first.method);
    }
    let equals: Vec<&Standing<'_>> = rest.iter().filter(|s| s.may_be_first()).collect();
    match equals.len() {
        0 => format!("Use {name}: it is better than every other method by more than chance."),
        n if n == rest.len() => {
            format!("{name} comes first, but none of the others is worse by more than chance.")
        }
        n => {
            let few = cheapest(&equals, first);
            format!("{name} comes first; {n} of the other {} may be as good{few}.", rest.len())
        }
    }
}

/// Which of those that may be first needs the fewest forward passes, if it is not the first.
fn cheapest(equals: &[&Standing<'_>], first: &Standing<'_>) -> String {
    let passes = |s: &Standing<'_>| s.method.members().unwrap_or(usize::MAX);
    match equals.iter().copied().min_by_key(|s| passes(s)) {
        Some(one) if passes(one) < passes(first) => {
            let (name, own, other) = (one.method.name, passes(one), passes(first));
            format!(", among them {name} with {own} forward passes instead of {other}")
        }
        _ => String::new(),
    }
}

/// What can be said of a single method.
fn alone(chapter: &Chapter<'_>, method: &Method<'_>) -> String {
    let accuracy = || {
        let cell = method.cell("test", "accuracy")?;
        let summary = cell.summary()?;
        let percent = |v: f64| shown(100.0 * v, 1);
        let interval =
            summary.interval.map(|(lo, hi)| format!(" ({} to {} %)", percent(lo), percent(hi)));
        let shown = percent(summary.mean) + " %" + &interval.unwrap_or_default();
        Some(format!("right in {shown} of the cases"))
    };
    let clauses = [
        accuracy(),
        confidence(method),
        intervals(method),
        checks(method),
        detection(chapter, method),
    ];
    let known: Vec<String> = clauses.into_iter().flatten().collect();
    format!("{}: {}.", method.name, known.join("; "))
}
