//! A comparison as tables for people and as JSON for machines.

use std::borrow::Cow;
use std::io::{self, Write};

use anyhow::Result;
use dubio_metrics::compare::{Comparison, Difference, Ranking, Stability};
use serde_json::{Map, Value, json};

use crate::render::{number, rounded};
use crate::terminal;

/// One object; methods go by their names.
pub(crate) fn json(comparison: &Comparison) -> Result<()> {
    let names = names(comparison);
    let mut object = Map::new();
    object.insert("methods".into(), json!(comparison.methods));
    object.insert(
        "ranking".into(),
        comparison.ranking.as_ref().map_or(Value::Null, |r| {
            let mut value = ranking(r, &names);
            if let Some(why) = &comparison.instead_of {
                value["instead_of"] = json!(why);
            }
            value
        }),
    );
    let scores: Map<String, Value> = comparison
        .scores
        .iter()
        .map(|scored| {
            let each = names.iter().enumerate().map(|(m, name)| {
                let interval = scored.intervals[m];
                let mut fields = Map::new();
                fields.insert("value".into(), finite(scored.values[m]));
                fields.insert("lo".into(), json!(interval.map(|(lo, _)| lo)));
                fields.insert("hi".into(), json!(interval.map(|(_, hi)| hi)));
                if let Some(why) = &scored.why[m] {
                    fields.insert("why".into(), json!(why));
                }
                (name.to_string(), Value::Object(fields))
            });
            (scored.score.clone(), Value::Object(each.collect()))
        })
        .collect();
    object.insert("scores".into(), Value::Object(scores));
    let differences: Vec<Value> =
        comparison.differences.iter().map(|d| difference(d, &names)).collect();
    object.insert("differences".into(), json!(differences));
    object.insert("correlations".into(), json!(comparison.correlations));
    for (key, all) in
        [("over_bins", &comparison.over_bins), ("over_temperatures", &comparison.over_temperatures)]
    {
        let all: Vec<Value> = all.iter().map(|own| stability(own, &names)).collect();
        object.insert(key.into(), json!(all));
    }
    object.insert("may_not_be_compared".into(), json!(comparison.cautions));
    let mut out = terminal::stdout();
    serde_json::to_writer_pretty(&mut out, &object).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

fn names(comparison: &Comparison) -> Vec<&str> {
    comparison.methods.iter().map(|method| &method.name[..]).collect()
}

/// The names as they stand in a table.
fn shown(comparison: &Comparison) -> Vec<Cow<'_, str>> {
    names(comparison).into_iter().map(terminal::one_line).collect()
}

/// JSON has no number for infinity.
fn finite(value: Option<f64>) -> Value {
    match value {
        Some(v) if v.is_infinite() => json!(if v > 0.0 { "inf" } else { "-inf" }),
        value => json!(value),
    }
}

fn ranking(ranking: &Ranking, names: &[&str]) -> Value {
    let ranked = ranking.ranked.iter().map(|one| {
        json!({
            "method": names[one.method], "rank": one.rank, "value": finite(Some(one.value)),
            "lo": one.lo, "hi": one.hi,
        })
    });
    let group = |group: &Vec<usize>| group.iter().map(|&m| names[m]).collect::<Vec<&str>>();
    json!({
        "score": ranking.score,
        "ranks": ranked.collect::<Vec<_>>(),
        "cannot_be_told_apart": ranking.groups.iter().map(group).collect::<Vec<_>>(),
        "differences":
            ranking.differences.iter().map(|d| difference(d, names)).collect::<Vec<_>>(),
    })
}

fn difference(d: &Difference, names: &[&str]) -> Value {
    json!({
        "score": d.score, "a": names[d.a], "b": names[d.b], "value": finite(d.value), "lo": d.lo,
        "hi": d.hi, "p_holm": d.p_holm, "told_apart": d.told_apart,
    })
}

fn stability(own: &Stability, names: &[&str]) -> Value {
    let values: Map<String, Value> =
        names.iter().zip(&own.values).map(|(name, v)| (name.to_string(), json!(v))).collect();
    let ranges: Map<String, Value> =
        names.iter().zip(&own.ranges).map(|(name, r)| (name.to_string(), json!(r))).collect();
    let flips = own.flips.iter().map(|flip| {
        json!({
            "a": names[flip.a], "b": names[flip.b], "a_better_at": flip.a_at,
            "b_better_at": flip.b_at,
        })
    });
    let mut object = json!({
        "score": own.score, "stable": own.stable(), "settings": own.settings, "values": values,
        "ranges": ranges, "flips": flips.collect::<Vec<_>>(),
    });
    if let Some(examples) = own.thinned_to {
        object["examples"] = json!(examples);
    }
    object
}

/// The ranking, the scores, how far orders can be trusted, and the cautions.
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
