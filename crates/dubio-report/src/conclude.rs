//! What to conclude of each method, in one sentence.

use crate::chapter::{Chapter, Method};
use crate::number::{places, shown};
use crate::ranking::{Ranking, Standing, listed};

/// A sentence on the `place`-th method of a ranking.
pub fn conclude(chapter: &Chapter<'_>, ranking: &Ranking<'_>, place: usize) -> String {
    let standing = &ranking.standings[place];
    let clauses = [
        position(ranking, place),
        confidence(&standing.method),
        intervals(&standing.method),
        detection(chapter, &standing.method),
    ];
    let known: Vec<String> = clauses.into_iter().flatten().collect();
    let mut text = known.join("; ");
    if let Some(first) = text.get(..1) {
        text.replace_range(..1, &first.to_uppercase());
    }
    text + "."
}

fn position(ranking: &Ranking<'_>, place: usize) -> Option<String> {
    let standing = &ranking.standings[place];
    let rest = &ranking.standings[1..];
    if rest.is_empty() {
        return None;
    }
    let Some(behind) = &standing.behind else {
        let equals: Vec<&str> =
            rest.iter().filter(|s| s.may_be_first()).map(|s| s.method.name).collect();
        return Some(match equals.len() {
            0 => "better than every other method by more than chance".to_string(),
            n if n == rest.len() => {
                "first, but no other method is worse by more than chance".to_string()
            }
            1..=3 => format!("first, but {} may be as good", listed(&equals)),
            n => format!("first, but {n} others may be as good"),
        });
    };
    let first = ranking.standings[0].method.name;
    Some(match behind.interval {
        _ if !behind.value.is_finite() => {
            format!("{} is infinite: it rules out what happened", ranking.score)
        }
        Some((lo, hi)) if !behind.may_be_chance() => {
            let digits = places(behind.value);
            let [value, lo, hi] = [behind.value, lo, hi].map(|v| shown(v, digits));
            format!("worse than {first} by {value} (between {lo} and {hi})")
        }
        _ => format!("not worse than {first} by more than chance"),
    })
}

/// Whether its confidence can be believed, from `sece` and its interval.
fn confidence(method: &Method<'_>) -> Option<String> {
    let cell = method.cell("test", "sece")?;
    let summary = cell.summary()?;
    let (lo, hi) = summary.interval?;
    let points = shown(100.0 * summary.mean.abs(), 1);
    Some(match summary.mean {
        _ if lo <= 0.0 && hi >= 0.0 => "its mean confidence is what its accuracy is".to_string(),
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
    Some(match 0.95 {
        promised if promised < lo => {
            format!("its 95 % intervals hold {inside} % of the targets: too wide")
        }
        promised if promised > hi => {
            format!("its 95 % intervals hold {inside} % of the targets: too narrow")
        }
        _ => format!("its 95 % intervals hold what they promise ({inside} %)"),
    })
}

/// How well it finds inputs from elsewhere, from the AUROC of the entropy.
fn detection(chapter: &Chapter<'_>, method: &Method<'_>) -> Option<String> {
    let areas: Vec<f64> = chapter
        .scores("test")
        .iter()
        .filter(|score| score.name.starts_with("ood.") && score.name.ends_with(".auroc.total"))
        .filter_map(|score| method.mean("test", score.name))
        .collect();
    let least = areas.iter().copied().reduce(f64::min)?;
    let how = match least {
        a if a >= 0.95 => "finds inputs from elsewhere reliably",
        a if a >= 0.8 => "finds most inputs from elsewhere",
        a if a >= 0.6 => "often misses inputs from elsewhere",
        _ => "does not notice inputs from elsewhere",
    };
    let at_least = if areas.len() > 1 { "at least " } else { "" };
    Some(format!("{how} (AUROC {at_least}{})", shown(least, 2)))
}

/// What the whole ranking says, in a sentence or two.
pub fn headline(ranking: &Ranking<'_>) -> String {
    let Some(first) = ranking.standings.first() else {
        return "No run has predictions that could be ranked.".to_string();
    };
    let equals: Vec<&Standing<'_>> =
        ranking.standings[1..].iter().filter(|s| s.may_be_first()).collect();
    match (ranking.standings.len(), equals.len()) {
        (1, _) => {
            format!("There is one method, {}, so there is nothing to rank.", first.method.name)
        }
        (_, 0) => format!(
            "Use {}: it is better than every other method by more than chance.",
            first.method.name
        ),
        (n, equal) if equal + 1 == n => {
            format!(
                "No method is better than all others by more than chance; {} comes first.",
                first.method.name
            )
        }
        (n, equal) => {
            let cheapest = equals
                .iter()
                .chain([&first])
                .min_by_key(|s| s.method.members().unwrap_or(usize::MAX))
                .map_or(first.method.name, |s| s.method.name);
            let cheap = if cheapest == first.method.name {
                "which also needs the fewest forward passes among them".to_string()
            } else {
                format!("and of these {cheapest} needs the fewest forward passes")
            };
            format!(
                "{} comes first, and {equal} of the other {} may be as good; {cheap}.",
                first.method.name,
                n - 1
            )
        }
    }
}
