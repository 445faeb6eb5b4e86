//! Scores as a table for people and as JSON for machines.

use std::io::{self, Write};

use crate::terminal::{self, one_line};
use anyhow::Result;
use dubio_metrics::scorecard::Entry;
use serde_json::{Map, Value, json};

/// One flat object, a score's name to its value, interval and number of examples.
pub(crate) fn json(entries: &[Entry]) -> Result<()> {
    let object: Map<String, Value> =
        entries.iter().map(|entry| (entry.name.clone(), fields(entry))).collect();
    let mut out = terminal::stdout();
    serde_json::to_writer_pretty(&mut out, &object).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

fn fields(entry: &Entry) -> Value {
    let mut fields = Map::new();
    fields.insert("value".into(), entry.value.as_ref().map_or(Value::Null, |v| value(*v)));
    fields.insert("lo".into(), json!(entry.interval.map(|(lo, _)| lo)));
    fields.insert("hi".into(), json!(entry.interval.map(|(_, hi)| hi)));
    fields.insert("n".into(), json!(entry.n));
    if let Some(why) = why(entry) {
        fields.insert("why".into(), json!(why));
    }
    Value::Object(fields)
}

/// A number, or the text `inf`: JSON has no number for it.
pub(crate) fn value(v: f64) -> Value {
    match v.is_infinite() {
        true => json!(if v > 0.0 { "inf" } else { "-inf" }),
        false => json!(v),
    }
}

fn why(entry: &Entry) -> Option<&str> {
    entry.value.as_ref().err().map(|u| &u.0[..]).or(entry.note.as_deref())
}

/// A line per score; families under a heading of their own.
pub(crate) fn table(entries: &[Entry]) -> Result<()> {
    let length = |e: &Entry| {
        let chars = |text: &str| one_line(text).chars().count();
        chars(short(&e.name)).max(chars(heading(&e.name)))
    };
    let widest = entries.iter().map(length).max().unwrap_or(0);
    let with_intervals = entries.iter().any(|e| e.interval.is_some());
    let mut out = terminal::stdout();
    let mut family = None;
    for entry in entries {
        let own = heading(&entry.name);
        if family != Some(own) {
            if family.is_some() {
                writeln!(out)?;
            }
            let interval = if with_intervals { "95 % interval" } else { "" };
            let shown = one_line(own);
            let head = format!("{shown:<widest$}    {:>10}  {interval:^23}", "value");
            writeln!(out, "{}", head.trim_end())?;
            family = Some(own);
        }
        let value = entry.value.as_ref().map_or("—".to_string(), |v| number(*v));
        let mark = if outside(entry) { "*" } else { "" };
        let interval = entry
            .interval
            .map(|(lo, hi)| format!("[{:>10}, {:>10}]{mark}", number(lo), number(hi)))
            .unwrap_or_default();
        let line = format!(
            "{:<widest$} {:<2} {value:>10}  {interval:<24}  {}",
            short(&entry.name),
            entry.card.direction.arrow(),
            why(entry).unwrap_or_default(),
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    if entries.iter().any(outside) {
        writeln!(
            out,
            "\n* the value is outside: resampling adds noise, and noise adds to a sum of absolute gaps"
        )?;
    }
    Ok(())
}

/// Whether the percentile interval does not hold the value.
fn outside(entry: &Entry) -> bool {
    match (&entry.value, entry.interval) {
        (Ok(value), Some((lo, hi))) => {
            let rounding = 1e-6 * value.abs(); // class-wise scores are resampled in f32
            *value < lo - rounding || *value > hi + rounding
        }
        _ => false,
    }
}

const FAMILIES: [&str; 6] =
    ["misclassification", "uncertainty", "calibrated", "worst_group", "p10_group", "median_group"];

/// The family that a score is listed under: `group.3` for `group.3.ece`, "score" for plain ones.
fn heading(name: &str) -> &str {
    for family in FAMILIES {
        if name.strip_prefix(family).is_some_and(|rest| rest.starts_with('.')) {
            return family;
        }
    }
    for family in ["ood.", "group."] {
        if let Some(rest) = name.strip_prefix(family) {
            let end = rest.find('.').unwrap_or(rest.len());
            return &name[..family.len() + end];
        }
    }
    "score"
}

fn short(name: &str) -> &str {
    let heading = heading(name);
    name.strip_prefix(heading).and_then(|rest| rest.strip_prefix('.')).unwrap_or(name)
}

/// Five significant digits, and never an exponent where a plain number is short enough.
pub(crate) fn number(v: f64) -> String {
    if !v.is_finite() {
        return format!("{v}");
    }
    let size = v.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{v:.3e}");
    }
    let whole = if size < 1.0 { 0 } else { size.log10() as usize };
    format!("{v:.*}", 5_usize.saturating_sub(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_five_digits_or_so() {
        assert_eq!(number(0.0123456), "0.01235");
        assert_eq!(number(123.456789), "123.457");
        assert_eq!(number(0.0), "0.00000");
        assert_eq!(number(1.5e-7), "1.500e-7");
        assert_eq!(number(f64::INFINITY), "inf");
    }

    #[test]
    fn scores_are_listed_under_their_family() {
        assert_eq!(heading("calibrated.misclassification.auroc.total"), "calibrated");
        assert_eq!(
            (heading("ood.far.auroc.total"), short("ood.far.auroc.total")),
            ("ood.far", "auroc.total")
        );
        assert_eq!((heading("group.-3.ece"), short("group.-3.ece")), ("group.-3", "ece"));
        assert_eq!((heading("ece"), short("ece")), ("score", "ece"));
    }
}
