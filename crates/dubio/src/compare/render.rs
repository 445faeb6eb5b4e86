//! A comparison as tables for people.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;
use dubio_metrics::compare::{Comparison, Difference, Ranking, Stability};

use crate::render::{number, rounded};
use crate::terminal;

/// The ranking, the scores, how robust the orders are, and the cautions.
pub(crate) fn table(comparison: &Comparison) -> Result<()> {
    let names = shown(comparison);
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let mut out = terminal::stdout();
    match &comparison.ranking {
        Some(ranking) => ranked(&mut out, comparison, ranking, &names)?,
        None => writeln!(out, "no ranking by {}: see below", comparison.headline)?,
    }
    scores(&mut out, comparison, &names)?;
    for (over, all) in
        [("number of bins", &comparison.over_bins), ("temperature", &comparison.over_temperatures)]
    {
        if let (Some(first), false) = (all.first(), names.len() < 2) {
            let ends = (first.settings.first(), first.settings.last());
            let (Some(low), Some(high)) = ends else { continue };
            let on =
                first.thinned_to.map_or(String::new(), |n| format!(", on {n} of the examples"));
            writeln!(out, "\norder of the methods as the {over} changes from {low} to {high}{on}")?;
            for own in all {
                writeln!(out, "  {:<6} {}", own.score, steadiness(own, &names))?;
            }
        }
    }
    if !comparison.cautions.is_empty() {
        writeln!(out, "\ncomparisons that would mislead")?;
    }
    for caution in &comparison.cautions {
        writeln!(
            out,
            "  {}\n    {}; {} ({})",
            caution.what, caution.why, caution.instead, caution.reference
        )?;
    }
    Ok(())
}

fn ranked(
    out: &mut impl Write,
    comparison: &Comparison,
    ranking: &Ranking,
    names: &[&str],
) -> Result<()> {
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
    writeln!(
        out,
        "rank  {:<widest$}  {:>7}  {:>14}  {:^24}  behind the best",
        "method", "members", ranking.score, "95 % interval"
    )?;
    let best = ranking.ranked.first().map(|one| one.method);
    for one in &ranking.ranked {
        let interval = one.lo.zip(one.hi);
        let behind =
            ranking.differences.iter().find(|d| Some(d.a) == best && d.b == one.method).map(behind);
        writeln!(
            out,
            "{:>4}  {:<widest$}  {:>7}  {:>14}  {:<24}  {}",
            one.rank,
            names[one.method],
            comparison.methods[one.method].members,
            number(one.value),
            interval.map_or(String::new(), |(lo, hi)| format!(
                "[{:>10}, {:>10}]",
                number(lo),
                number(hi)
            )),
            behind.unwrap_or_default()
        )?;
    }
    conclusion(out, comparison, ranking, names)
}

/// Which methods differ by more than chance, which are not ranked, and why another score does not rank.
fn conclusion(
    out: &mut impl Write,
    comparison: &Comparison,
    ranking: &Ranking,
    names: &[&str],
) -> Result<()> {
    if let Some(why) = &comparison.instead_of {
        writeln!(out, "ranked by {}, which every file has: {why}", ranking.score)?;
    }
    let scored = comparison.scores.iter().find(|scored| scored.score == ranking.score);
    let whys = scored.map_or(&[][..], |scored| &scored.why[..]);
    for (name, why) in names.iter().zip(whys) {
        if let Some(why) = why {
            writeln!(out, "{name} is not ranked: it has no {} ({why})", ranking.score)?;
        }
    }
    let (pairs, ranked) = (ranking.differences.len(), ranking.ranked.len());
    let corrected = match pairs {
        1 => String::new(),
        n => format!(" (95 %, corrected for {n} comparisons)"),
    };
    let together: Vec<String> = ranking
        .groups
        .iter()
        .filter(|group| group.len() > 1)
        .map(|group| group.iter().map(|&m| names[m]).collect::<Vec<_>>().join(", "))
        .collect();
    match together.is_empty() {
        true if ranked < 2 => {}
        true if ranked == 2 => {
            writeln!(out, "the two differ in {} by more than chance", ranking.score)?
        }
        true => {
            writeln!(out, "all of them differ in {} by more than chance{corrected}", ranking.score)?
        }
        false => {
            let score = &ranking.score;
            writeln!(
                out,
                "no difference in {score} beyond chance{corrected}: {}",
                together.join("; ")
            )?
        }
    }
    Ok(())
}

/// A difference seen from the second method.
fn behind(d: &Difference) -> String {
    let (Some(value), Some((lo, hi))) = (d.value, d.lo.zip(d.hi)) else { return String::new() };
    let shown = |v: f64| rounded(v, hi - lo);
    format!("{} [{}, {}]", shown(-value), shown(-hi), shown(-lo))
}

fn scores(out: &mut impl Write, comparison: &Comparison, names: &[&str]) -> Result<()> {
    let widest = comparison.scores.iter().map(|s| s.score.len()).max().unwrap_or(0).max(5);
    let column = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(10);
    let head: Vec<String> = names.iter().map(|name| format!("  {name:>column$}")).collect();
    writeln!(out, "\n{:<widest$}   {}", "score", head.join(""))?;
    for scored in &comparison.scores {
        let cell =
            |value: &Option<f64>| format!("  {:>column$}", value.map_or("—".to_string(), number));
        let cells: Vec<String> = scored.values.iter().map(cell).collect();
        writeln!(out, "{:<widest$} {:<2}{}", scored.score, scored.better, cells.join(""))?;
    }
    Ok(())
}

fn steadiness(own: &Stability, names: &[&str]) -> String {
    let ranges: Vec<String> = names
        .iter()
        .zip(&own.ranges)
        .filter_map(|(name, range)| {
            let (low, high) = (*range)?;
            Some(format!("{name} {} to {}", number(low), number(high)))
        })
        .collect();
    let verdict = match own.flips.len() {
        0 => "stable".to_string(),
        1 => "1 pair changes order".to_string(),
        many => format!("{many} pairs change order"),
    };
    format!("{verdict:<22} {}", ranges.join(", "))
}

/// The names as they stand in a table.
fn shown(comparison: &Comparison) -> Vec<Cow<'_, str>> {
    comparison.methods.iter().map(|method| terminal::one_line(&method.name)).collect()
}
