//! `dubio explain`: what a score or a method is.

use std::io::Write;

use anyhow::{Result, bail};
use dubio_api::names::{Known, base, known, same_uncertainty};
use dubio_infer::methods;
use dubio_infer::recipe::Recipe;
use dubio_metrics::card::Direction;
use dubio_words::{meant, nearest, unknown_of_many};
use serde_json::json;

use crate::terminal;

/// Explain a score (formula, range, source) or a method (rule, settings, source).
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio explain ece
  dubio explain calibrated.nll
  dubio explain sghmc")]
pub(crate) struct Args {
    /// Name of a score or method.
    name: String,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// All that a score says of itself.
pub(crate) fn card(score: &Known) -> serde_json::Value {
    let bound = |x: f64| if x.is_finite() { json!(x) } else { json!(null) };
    json!({
        "name": score.name,
        "task": score.task,
        "summary": score.card.summary,
        "formula": score.card.formula,
        "range": [bound(score.card.range.0), bound(score.card.range.1)],
        "better": better(score.card.direction),
        "options": score.card.facts.settings.iter().map(|setting| setting.option()).collect::<Vec<_>>(),
        "citation": score.card.citation,
    })
}

fn better(direction: Direction) -> &'static str {
    match direction {
        Direction::Higher => "higher",
        Direction::Lower => "lower",
        Direction::Zero => "closer to zero",
        Direction::Neither => "neither: a description",
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let method = meant(&args.name, methods::CARDS.iter().map(|card| card.name));
    if let Some(card) = methods::CARDS.iter().find(|card| Some(card.name) == method) {
        return explain_method(args, card);
    }
    let all = known();
    let mut name = generic(&args.name);
    let plain = name.to_ascii_lowercase().replace('-', "_");
    let of = |name: &str| -> Vec<&Known> {
        all.iter().filter(|score| score.name == base(name)).collect()
    };
    let mut found = of(&name);
    let others = [plain.clone(), same_uncertainty(&name), same_uncertainty(&plain)];
    if found.is_empty()
        && let Some(other) = others.into_iter().find(|other| !of(other).is_empty())
    {
        (found, name) = (of(&other), other);
    }
    if found.is_empty() {
        let mut names: Vec<String> = all.iter().map(|k| k.name.clone()).collect();
        names.extend(methods::CARDS.iter().map(|card| card.name.to_string()));
        let near = nearest(base(&name), names.iter().map(String::as_str));
        bail!(unknown_of_many("score or method", &args.name, near, "dubio list"));
    }
    let mut out = terminal::stdout();
    if args.json {
        let cards: Vec<_> = found.iter().map(|k| card(k)).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&cards)?)?;
        return Ok(());
    }
    for (i, score) in found.iter().enumerate() {
        let bound = |x: f64| {
            if x.is_finite() {
                format!("{x}")
            } else if x > 0.0 {
                "inf".into()
            } else {
                "-inf".into()
            }
        };
        let (low, high) = score.card.range;
        if i > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{} ({})\n  {}\n", score.name, score.task, score.card.summary)?;
        writeln!(out, "  formula   {}", score.card.formula)?;
        writeln!(out, "  range     {} to {}", bound(low), bound(high))?;
        writeln!(out, "  better    {}", better(score.card.direction))?;
        if !score.card.facts.settings.is_empty() {
            let options = score.card.facts.settings.iter().map(|s| format!("--{}", s.option()));
            writeln!(out, "  options   {}", options.collect::<Vec<_>>().join(", "))?;
        }
        writeln!(out, "  source    {}", score.card.citation)?;
    }
    if let Some(line) = derived(&name) {
        writeln!(out, "\n  {line}")?;
    }
    Ok(())
}

fn explain_method(args: &Args, card: &methods::Card) -> Result<()> {
    let recipe = Recipe::named(card.name)?;
    let mut settings = serde_json::to_value(&recipe.method)?;
    if let Some(table) = settings.as_object_mut() {
        table.shift_remove("method");
    }
    let mut out = terminal::stdout();
    if args.json {
        let card = json!({
            "name": card.name, "summary": card.summary, "rule": card.rule,
            "citation": card.citation, "settings": settings, "setup": recipe.setup,
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&card)?)?;
        return Ok(());
    }
    writeln!(out, "{} (method)\n  {}\n", card.name, card.summary)?;
    writeln!(out, "  rule      {}", card.rule)?;
    writeln!(out, "  source    {}", card.citation)?;
    for (head, table) in
        [("settings", settings), ("settings of every method", serde_json::to_value(&recipe.setup)?)]
    {
        writeln!(out, "\n  {head}, with their defaults")?;
        for (name, value) in table.as_object().into_iter().flatten() {
            let value = match value {
                serde_json::Value::Null => match &name[..] {
                    "members" => json!(recipe.members()),
                    "weight_decay" if recipe.setup.prior_std.is_some() => json!("see prior_std"),
                    "weight_decay" => json!(recipe.prior_precision(1)),
                    "prior_std" => json!("see weight_decay"),
                    _ => json!("none"),
                },
                value => value.clone(),
            };
            writeln!(out, "    {name:<18} {value}")?;
        }
    }
    Ok(())
}

/// `ood.far.auroc.total` is explained as `ood.NAME.auroc.total`.
fn generic(name: &str) -> String {
    match name.strip_prefix("ood.").map(|rest| rest.rsplitn(3, '.').collect::<Vec<_>>()).as_deref()
    {
        Some([signal, measure, _]) => format!("ood.NAME.{measure}.{signal}"),
        _ => name.to_string(),
    }
}

/// What the first part of a derived name adds.
fn derived(name: &str) -> Option<&'static str> {
    match name.split('.').next()? {
        "calibrated" => Some(
            "calibrated: at the best temperature, by test-time cross-validation: split at random in\n  \
             two halves, fit T on one and score the other, both ways, average over five splits\n  \
             (Ashukha et al. 2020). Intervals resample the halves of the first split at its temperatures.",
        ),
        "worst_group" => {
            Some("worst_group: the worst value over groups, by the score's own direction.")
        }
        "p10_group" => Some(
            "p10_group: the 10th percentile over groups, counted from the worst, with linear interpolation:\n  \
             the 90th where lower is better; where 0 is best, by distance from 0, with its sign.",
        ),
        "median_group" => {
            Some("median_group: the median over groups, where there are more than 100.")
        }
        "misclassification" => Some(
            "misclassification: positives are wrong predictions. Do not compare it between models: each\n  \
             has its own errors to detect (Ashukha et al. 2020, sec. 3.2).",
        ),
        "ood" => Some("ood: positives are the examples of the out-of-distribution set."),
        _ => None,
    }
}
