//! A check as a table for people and as JSON for machines.

use std::io::{self, Write};

use anyhow::Result;
use dubio_api::check::Checks;
use dubio_metrics::check::{Mode, Rule, Summary};
use serde_json::{Map, Value, json};

use crate::render::{number, value};
use crate::terminal;

/// One object: how it was checked, and each statistic by its name.
pub(super) fn json(checks: &Checks) -> Result<()> {
    let statistics: Map<String, Value> =
        checks.statistics.iter().map(|c| (c.statistic.clone(), fields(c))).collect();
    let mut object = Map::new();
    object.insert("mode".into(), json!(checks.mode));
    object.insert("rule".into(), json!(checks.rule));
    object.insert("replicates".into(), json!(checks.replicates));
    object.insert("members".into(), json!(checks.members));
    object.insert("n".into(), json!(checks.n));
    if let Some(temperatures) = &checks.temperatures {
        object.insert("temperatures".into(), json!(temperatures));
    }
    object.insert("statistics".into(), Value::Object(statistics));
    let mut out = terminal::stdout();
    serde_json::to_writer_pretty(&mut out, &object).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

/// A line per statistic.
pub(super) fn table(checks: &Checks) -> Result<()> {
    let mut out = terminal::stdout();
    let widest = checks.statistics.iter().map(|c| c.statistic.len()).max().unwrap_or(0).max(9);
    writeln!(
        out,
        "{:<widest$}  {:>10}  {:>24}  {:>7}  {:>11}  {:>9}  passes",
        "statistic", "observed", "95 % of replicates", "p_value", "p_two_sided", "sharpness"
    )?;
    for summary in &checks.statistics {
        writeln!(out, "{:<widest$}  {}", summary.statistic, line(summary))?;
    }
    let members = match (checks.members, checks.mode) {
        (1, _) => "1 member".to_string(),
        (n, Mode::Bayesian) => format!("{n} members, one of which generates all labels"),
        (n, Mode::Independent) => format!("{n} members, a random one for each label"),
    };
    writeln!(
        out,
        "\n{} replicates of {} examples from {members}\n{}",
        checks.replicates,
        checks.n,
        match checks.rule {
            Rule::Interval => "passes: observed is inside 95 % of the replicates (rule interval)",
            Rule::Range =>
                "passes: p_value is neither 0 nor 1 (rule range; depends on the number of replicates)",
        }
    )?;
    if let Some(temperatures) = &checks.temperatures {
        let shown: Vec<String> = temperatures.iter().map(|t| format!("{t:.4}")).collect();
        writeln!(out, "temperatures fitted on the leading fifth: {}", shown.join(" "))?;
    }
    Ok(())
}

fn line(summary: &Summary) -> String {
    let shown = |value: Option<f64>| value.map_or("—".to_string(), number);
    let (Some(lo), Some(hi), Some(p), Some(two_sided), Some(passes)) =
        (summary.lo, summary.hi, summary.p_value, summary.p_two_sided, summary.passes)
    else {
        return format!("{:>10}  {}", "—", summary.why.as_deref().unwrap_or_default());
    };
    let verdict = match (passes, summary.observed) {
        (true, _) => "yes",
        (false, Some(observed)) if observed < lo => "no: lower than the model expects",
        (false, Some(observed)) if observed > hi => "no: higher than the model expects",
        (false, _) => "no",
    };
    format!(
        "{:>10}  [{:>10}, {:>10}]  {p:>7.3}  {two_sided:>11.3}  {:>9}  {verdict}",
        shown(summary.observed),
        number(lo),
        number(hi),
        shown(summary.sharpness),
    )
}

fn fields(summary: &Summary) -> Value {
    let mut fields = Map::new();
    fields.insert("observed".into(), summary.observed.map_or(Value::Null, value));
    fields.insert("p_value".into(), json!(summary.p_value));
    fields.insert("p_two_sided".into(), json!(summary.p_two_sided));
    fields.insert("sharpness".into(), json!(summary.sharpness));
    fields.insert("passes".into(), json!(summary.passes));
    fields.insert("lo".into(), json!(summary.lo));
    fields.insert("hi".into(), json!(summary.hi));
    fields.insert("box".into(), json!(summary.box_plot));
    if let Some(why) = &summary.why {
        fields.insert("why".into(), json!(why));
    }
    Value::Object(fields)
}
