//! `dubio list`: what there is.

use std::io::Write;

use anyhow::Result;
use clap::ValueEnum;
use dubio_api::names::known;
use dubio_api::suite::suites;
use dubio_data::{sets, shifts};
use dubio_infer::methods;
use dubio_nn::networks;
use serde_json::json;

use crate::explain::card;
use crate::terminal;

/// List scores, methods, networks, shifts, data sets or suites.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio list                  what can be listed
  dubio list scores
  dubio list shifts --json")]
pub(crate) struct Args {
    /// What to list; without it, what can be listed.
    what: Option<What>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// Scores of predictions.
    Scores,
    /// Methods of approximate Bayesian inference.
    Methods,
    /// Families of networks.
    Networks,
    /// Shifts (corruptions) of images.
    Shifts,
    /// Data sets; `dubio data list` shows which are on this machine.
    Data,
    /// Suites that come with the program.
    Suites,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    match args.what {
        None => list_lists(args),
        Some(What::Scores) => list_scores(args),
        Some(what) => list_cards(args, &cards(what)),
    }
}

/// Name, summary and citation of everything in a list.
fn cards(what: What) -> Vec<(&'static str, &'static str, &'static str)> {
    match what {
        What::Scores => known().iter().map(|k| ("", k.card.summary, k.card.citation)).collect(),
        What::Methods => methods::CARDS.iter().map(|c| (c.name, c.summary, c.citation)).collect(),
        What::Networks => networks::CARDS.iter().map(|c| (c.name, c.summary, c.citation)).collect(),
        What::Shifts => {
            let cards = shifts::list().iter().map(|shift| shift.card());
            cards.map(|c| (c.name, c.summary, c.citation)).collect()
        }
        What::Data => sets::list().iter().map(|s| (s.name, s.summary, s.citation)).collect(),
        What::Suites => suites().map(|(name, title)| (name, title, "")).collect(),
    }
}

/// What can be listed, how many there are of each, and the command.
fn list_lists(args: &Args) -> Result<()> {
    let mut out = terminal::stdout();
    let lists = What::value_variants().iter().filter_map(|what| {
        let value = what.to_possible_value()?;
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        Some((value.get_name().to_string(), cards(*what).len(), help))
    });
    if args.json {
        let lists = lists
            .map(|(name, count, help)| json!({ "name": name, "count": count, "summary": help }));
        return Ok(writeln!(out, "{}", serde_json::to_string_pretty(&lists.collect::<Vec<_>>())?)?);
    }
    for (name, count, help) in lists {
        writeln!(out, "dubio list {name:<9} {count:>3}  {help}")?;
    }
    Ok(())
}

/// A line for each name, summary and citation.
fn list_cards(args: &Args, cards: &[(&str, &str, &str)]) -> Result<()> {
    let mut out = terminal::stdout();
    if args.json {
        let cards: Vec<_> = cards
            .iter()
            .map(|(name, summary, citation)| {
                json!({ "name": name, "summary": summary, "citation": citation })
            })
            .collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&cards)?)?;
        return Ok(());
    }
    let widest = cards.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    for (name, summary, _) in cards {
        writeln!(out, "{name:<widest$}  {summary}")?;
    }
    Ok(())
}

fn list_scores(args: &Args) -> Result<()> {
    let all = known();
    let mut out = terminal::stdout();
    if args.json {
        let cards: Vec<_> = all.iter().map(card).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&cards)?)?;
        return Ok(());
    }
    let widest = all.iter().map(|k| k.name.len()).max().unwrap_or(0);
    let mut task = "";
    for score in &all {
        if score.task != task {
            if !task.is_empty() {
                writeln!(out)?;
            }
            out.heading(score.task)?;
            task = score.task;
        }
        let arrow = score.card.direction.arrow();
        writeln!(out, "  {:<widest$} {arrow:<2} {}", score.name, score.card.summary)?;
    }
    writeln!(
        out,
        "\ncalibrated.NAME is any classification score at the best temperature. With --groups,\n\
         group.VALUE.NAME is any score of one group, and worst_group.NAME and p10_group.NAME summarise\n\
         the groups; more than 100 groups are only summarised, with median_group.NAME too.\n\
         `model` in a name is knowledge (epistemic) uncertainty; `knowledge` is accepted for it.\n\
         ↑ higher is better, ↓ lower, →0 closer to zero. `dubio explain NAME` says more."
    )?;
    Ok(())
}
