//! Scores as a table for people and as JSON for machines.

use std::io::{self, Write};

use anyhow::Result;
use dubio_api::scorecard::Score;
use serde_json::{Map, Value, json};

use crate::terminal::{self, one_line};

/// One flat object, a score's name to its value, interval and number of examples.
pub(crate) fn json(scores: &[Score]) -> Result<()> {
    let fields = |score: &Score| {
        let mut fields = serde_json::to_value(score)?;
        fields.as_object_mut().map(|fields| fields.shift_remove("name"));
        Ok((score.name.clone(), fields))
    };
    let object: Map<String, Value> = scores.iter().map(fields).collect::<Result<_>>()?;
    let mut out = terminal::stdout();
    serde_json::to_writer_pretty(&mut out, &object).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

/// A number, or the text `inf`: JSON has no number for it.
pub(crate) fn value(v: f64) -> Value {
    match v.is_infinite() {
        true => json!(if v > 0.0 { "inf" } else { "-inf" }),
        false => json!(v),
    }
}

/// A line per score; families under a heading of their own.
pub(crate) fn table(scores: &[Score]) -> Result<()> {
    let length = |e: &Score| {
        let chars = |text: &str| one_line(text).chars().count();
        chars(short(&e.name)).max(chars(heading(&e.name)))
    };
    let widest = scores.iter().map(length).max().unwrap_or(0);
    let with_intervals = scores.iter().any(|e| e.lo.is_some());
    let mut out = terminal::stdout();
    let mut family = None;
    for score in scores {
        let own = heading(&score.name);
        if family != Some(own) {
            if family.is_some() {
                writeln!(out)?;
            }
            let interval = if with_intervals { "95 % interval" } else { "" };
            let shown = one_line(own);
            let head = format!("{shown:<widest$}    {:>10}  {interval:^23}", "value");
            out.heading(&head)?;
            family = Some(own);
        }
        let value = score.value.map_or("—".to_string(), number);
        let mark = if outside(score) { "*" } else { "" };
        let interval = score
            .lo
            .zip(score.hi)
            .map(|(lo, hi)| format!("[{:>10}, {:>10}]{mark}", number(lo), number(hi)))
            .unwrap_or_default();
        let line = format!(
            "{:<widest$} {:<2} {value:>10}  {interval:<24}  {}",
            short(&score.name),
            score.direction.arrow(),
            score.why.as_deref().unwrap_or_default(),
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    if scores.iter().any(outside) {
        writeln!(
            out,
            "\n* the interval does not contain the value: resampling adds noise, which inflates sums of absolute gaps"
        )?;
    }
    Ok(())
}

/// Whether the percentile interval does not hold the value.
fn outside(score: &Score) -> bool {
    match (score.value, score.lo.zip(score.hi)) {
        (Some(value), Some((lo, hi))) => {
            let rounding = 1e-6 * value.abs(); // class-wise scores are resampled in f32
            value < lo - rounding || value > hi + rounding
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

/// A number with as many digits as its interval lets it have: two of the interval's width.
pub(crate) fn rounded(v: f64, width: f64) -> String {
    if !v.is_finite() || !width.is_finite() || width <= 0.0 {
        return number(v);
    }
    let places = (1.0 - width.log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{v:.places$}");
    let zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    if zero { text.replace('-', "") } else { text }
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
    fn a_difference_has_the_digits_of_its_interval() {
        assert_eq!(rounded(0.012345678, 0.0042), "0.0123");
        assert_eq!(rounded(-0.00001, 0.0042), "0.0000");
        assert_eq!(rounded(123.456, 30.0), "123");
        assert_eq!(rounded(0.5, 0.0), "0.50000");
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
