//! What to conclude about each method, in one sentence.

use dubio_metrics::check::Mode;
use dubio_metrics::numeric::normal;

use crate::calibration::confidence;
use crate::chapter::{Chapter, Method};
use crate::number::{by_interval, shown};
use crate::proportion::{Z95, wilson};
use crate::ranking::{Ranking, Standing};
use crate::view::QuantileView;
use crate::words::{capital, in_words, listed};

/// A sentence on the method at an index of a ranking.
pub fn conclude(chapter: &Chapter<'_>, ranking: &Ranking<'_>, index: usize) -> String {
    let method = &ranking.standings[index].method;
    let clauses = [
        position(ranking, index),
        confidence(method),
        intervals(chapter, method),
        quantiles(method),
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
            0 => format!("best {}, by more than chance", in_words(ranking.score)),
            n if n == rest.len() => {
                format!(
                    "best {}, but no other is worse by more than chance",
                    in_words(ranking.score)
                )
            }
            1..=2 => {
                format!("best {}, but {} may be as good", in_words(ranking.score), listed(&equals))
            }
            n => format!("best {}, but {n} others may be as good", in_words(ranking.score)),
        });
    };
    let first = ranking.standings[0].method.name;
    Some(match behind.interval {
        _ if !behind.value.is_finite() => {
            format!(
                "its {} is infinite: it gave a true label probability 0",
                in_words(ranking.score)
            )
        }
        Some((lo, hi)) if !behind.may_be_chance() => {
            let [value, lo, hi] = by_interval([behind.value, lo, hi], lo, hi);
            let most = |s: &Standing<'_>| s.summary.values.len();
            let all = most(standing).max(most(&ranking.standings[0]));
            let shared = if behind.runs < all { " on the runs that both have" } else { "" };
            format!("worse than {first} by {value} ({lo} to {hi}){shared}")
        }
        _ => format!("may be as good as {first}"),
    })
}

/// Whether its intervals contain as many targets as they should, from `picp`. For a single run by Wilson's
/// interval: the bootstrap's is too short on the side of 1, where few targets are outside.
pub(crate) fn intervals(chapter: &Chapter<'_>, method: &Method<'_>) -> Option<String> {
    let cell = method.cell("test", "picp")?;
    let summary = cell.summary()?;
    let one = method.finished().next().filter(|_| summary.values.len() == 1);
    let examples = one.and_then(|(_, finished)| Some(finished.entry("test", "picp")?.n));
    let (lo, hi) = match examples {
        Some(n) => wilson(summary.mean, n, Z95),
        None => summary.interval?,
    };
    let (inside, level) = (shown(100.0 * summary.mean, 1), percent(chapter.level));
    let how = match chapter.level {
        nominal if nominal < lo - 1e-9 => ": too wide".to_string(),
        nominal if nominal > hi + 1e-9 => ": too narrow".to_string(),
        _ => format!(", consistent with {level} %"),
    };
    Some(format!("{level} % intervals contain {inside} % of the targets{how}"))
}

/// A level in percent, with the digits it needs.
fn percent(level: f64) -> String {
    let text = format!("{:.2}", 100.0 * level);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Whether the right fraction of targets lies below each predicted quantile, with intervals that hold for all
/// levels together (Bonferroni). Only for a single run: several runs have several test sets.
pub(crate) fn quantiles(method: &Method<'_>) -> Option<String> {
    let (_, finished) = method.finished().next().filter(|_| method.count().0 == 1)?;
    let view = finished.view("test")?;
    let quantiles = view.quantiles.as_ref()?;
    let z = normal::quantile(1.0 - 0.025 / quantiles.len() as f64);
    let off = |own: &&QuantileView| {
        let (lo, hi) = wilson(own.below, view.examples, z);
        own.level < lo || own.level > hi
    };
    let wrong: Vec<&QuantileView> = quantiles.iter().filter(off).collect();
    let gap = |own: &QuantileView| (own.below - own.level).abs();
    let Some(worst) = wrong.iter().max_by(|a, b| gap(a).total_cmp(&gap(b))) else {
        return Some(format!(
            "all {} predicted quantiles are consistent with their levels",
            quantiles.len()
        ));
    };
    Some(format!(
        "{} of {} predicted quantiles are off by more than chance ({} % of the targets lie below the {} % quantile)",
        wrong.len(),
        quantiles.len(),
        shown(100.0 * worst.below, 1),
        percent(worst.level)
    ))
}

/// Which posterior predictive checks of the test set fail.
pub(crate) fn checks(method: &Method<'_>) -> Option<String> {
    let checks = method.finished().flat_map(|(_, finished)| &finished.checks);
    let own = checks.filter(|check| check.split == "test" && check.mode == Mode::Bayesian);
    let judged: Vec<(&str, bool)> = own
        .filter_map(|check| Some((&check.summary.statistic[..], check.summary.passes?)))
        .collect();
    let mut failed: Vec<&str> =
        judged.iter().filter(|(_, ok)| !ok).map(|(name, _)| *name).collect();
    let (count, all) = (failed.len(), judged.len());
    failed.sort_unstable();
    failed.dedup();
    let names: Vec<String> = failed.iter().map(|name| in_words(name)).collect();
    match (count, all) {
        (_, 0) => None,
        (0, 1) => Some("passes its posterior predictive check".to_string()),
        (0, 2) => Some("passes both posterior predictive checks".to_string()),
        (0, n) => Some(format!("passes all {n} posterior predictive checks")),
        (1, 1) => Some(format!("fails its posterior predictive check ({})", names[0])),
        (2, 2) => Some("fails both posterior predictive checks".to_string()),
        (failed, all) if failed == all => {
            Some(format!("fails all {all} posterior predictive checks"))
        }
        (failed, all) => Some(format!(
            "fails {failed} of {all} posterior predictive checks ({})",
            listed(&names)
        )),
    }
}

/// How well it detects out-of-distribution inputs: said of the best, of those that are bad at it, and
/// of a method that is the only one.
pub(crate) fn detection(chapter: &Chapter<'_>, method: &Method<'_>) -> Option<String> {
    let own = least_area(chapter, method)?;
    let others = chapter.methods.iter().filter_map(|other| least_area(chapter, other));
    let best = others.fold(own, f64::max);
    let area = shown(own, 2);
    match own {
        a if a < 0.6 => Some(format!("hardly detects out-of-distribution inputs (AUROC {area})")),
        a if a < 0.75 => Some(format!("misses many out-of-distribution inputs (AUROC {area})")),
        a if a == best && chapter.present().count() > 1 => {
            Some(format!("best at detecting out-of-distribution inputs (AUROC {area})"))
        }
        _ if chapter.present().count() == 1 => {
            Some(format!("detects out-of-distribution inputs with AUROC {area}"))
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
