//! `dubio list`: what there is.

use std::io::Write;

use anyhow::Result;
use clap::ValueEnum;
use dubio_api::names::known;
use dubio_data::shifts;
use dubio_infer::methods;
use dubio_nn::networks;
use serde_json::json;

use crate::explain::card;
use crate::terminal;

/// List what there is.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  dubio list scores\n  dubio list networks\n  dubio list shifts --json"
)]
pub(crate) struct Args {
    /// What to list.
    what: What,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// Every score, with one sentence each.
    Scores,
    /// Every method of inference.
    Methods,
    /// Every family of networks.
    Networks,
    /// Every shift of images.
    Shifts,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    match args.what {
        What::Scores => list_scores(args),
        What::Methods => {
            let cards = methods::CARDS.iter();
            list_cards(args, &cards.map(|c| (c.name, c.summary, c.citation)).collect::<Vec<_>>())
        }
        What::Networks => {
            let cards = networks::CARDS.iter();
            list_cards(args, &cards.map(|c| (c.name, c.summary, c.citation)).collect::<Vec<_>>())
        }
        What::Shifts => {
            let cards = shifts::list().iter().map(|shift| shift.card());
            list_cards(args, &cards.map(|c| (c.name, c.summary, c.citation)).collect::<Vec<_>>())
        }
    }
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
            writeln!(out, "{}{}", if task.is_empty() { "" } else { "\n" }, score.task)?;
            task = score.task;
        }
        let arrow = score.card.direction.arrow();
        writeln!(out, "  {:<widest$} {arrow:<2} {}", score.name, score.card.summary)?;
    }
    writeln!(
        out,
        "\ncalibrated.NAME is any score of classification at its best temperature; with --groups,\n\
         group.VALUE.NAME, worst_group.NAME and p10_group.NAME are any score over groups; of more than\n\
         100 there are worst_group.NAME, p10_group.NAME and median_group.NAME.\n\
         ↑ higher is better, ↓ lower, →0 closer to zero. `dubio explain NAME` says more."
    )?;
    Ok(())
}
