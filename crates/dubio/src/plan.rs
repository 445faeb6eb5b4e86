//! `dubio plan` and `dubio schema`: what a suite says, before anything runs.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use dubio_api::scores::badness;
use dubio_bench::memory;
use dubio_bench::plan::{MANY, Plan, PlannedRun, plan, runs};
use dubio_bench::schema::schema;
use dubio_bench::search::Search;
use dubio_bench::store::State;
use dubio_bench::suite::Suite;
use dubio_predictions::input;
use dubio_words::unknown;

use crate::runs::duration;
use crate::study::Places;
use crate::terminal;

/// Suites that are part of the program.
const SUITES: [(&str, &str); 5] = [
    ("quick", include_str!("../../../suites/quick.toml")),
    ("quick-regression", include_str!("../../../suites/quick-regression.toml")),
    ("gopal-simulated", include_str!("../../../suites/gopal-simulated.toml")),
    ("ensembles-mnist", include_str!("../../../suites/ensembles-mnist.toml")),
    ("ursabench-small", include_str!("../../../suites/ursabench-small.toml")),
];

/// Show what a suite would run, all defaults written out; runs nothing.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio plan quick
  dubio plan suites/quick.toml --json")]
pub(crate) struct PlanArgs {
    /// A suite's name or file.
    suite: String,
    /// Print every setting of every run as JSON.
    #[arg(long)]
    json: bool,
    /// Go on with more than 100,000 runs.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    places: Places,
}

/// Print the JSON schema of suites, for editors that complete and check.
#[derive(clap::Args)]
#[command(after_help = "Example:
  dubio schema > suite.schema.json    with `#:schema suite.schema.json` at the head of a suite")]
pub(crate) struct SchemaArgs {}

/// The suite of this name or in this file.
pub(crate) fn suite(name: &str) -> Result<Suite> {
    if let Some((_, text)) = SUITES.iter().find(|(known, _)| *known == name) {
        return Ok(Suite::parse(&format!("suites/{name}.toml"), text)?);
    }
    let path = Path::new(name);
    let looks_like_file = path.extension().is_some() || name.contains(['/', '\\']);
    if !looks_like_file && !path.exists() {
        let names = SUITES.iter().map(|(known, _)| *known);
        bail!("{} (a file's name ends in .toml)", unknown("suite", name, names));
    }
    let text = input::read_text(path).with_context(|| format!("cannot read {name}"))?;
    Ok(Suite::parse(name, &text)?)
}

/// That a suite has not more runs than somebody means who has not counted them.
pub(crate) fn not_too_many(suite: &Suite, yes: bool) -> Result<()> {
    match runs(suite)? {
        count if count > MANY && !yes => {
            bail!("{}: {count} runs; give --yes if you mean so many", suite.name)
        }
        _ => Ok(()),
    }
}

pub(crate) fn show_plan(args: &PlanArgs) -> Result<()> {
    let suite = suite(&args.suite)?;
    not_too_many(&suite, args.yes)?;
    let store = args.places.store();
    let known = |run: &PlannedRun, search: &Search| badness(&store, run, search);
    let Plan { runs, trials, open } = plan(&suite, &args.places.data()?, &known)?;
    let runs = [trials, runs].concat();
    let mut out = terminal::stdout();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&runs)?)?;
        return Ok(());
    }
    writeln!(
        out,
        "{:<16}  {:<24} {:<14} {:<16} {:>4} {:>9} {:>9}  state",
        "id", "method", "data", "network", "seed", "epochs", "about"
    )?;
    for run in &runs {
        let state = match store.state(run) {
            State::Finished => "finished",
            State::Failed => "failed",
            State::Begun => "begun",
            State::Missing => "to do",
        };
        let s = &run.settings;
        writeln!(
            out,
            "{:<16}  {:<24} {:<14} {:<16} {:>4} {:>9.0} {:>9}  {state}",
            run.id,
            run.label,
            s.data,
            s.network,
            s.seed,
            run.cost.epochs,
            duration(run.cost.seconds)
        )?;
    }
    let to_do = runs.iter().filter(|run| store.state(run) != State::Finished);
    let seconds = to_do.clone().fold(0.0, |sum, run| sum + run.cost.seconds);
    let largest = to_do.clone().map(memory::estimate).max().unwrap_or(0);
    writeln!(
        out,
        "\n{} runs, {} to do: about {} of one core, up to {} MB each. --json shows every setting.",
        runs.len(),
        to_do.count(),
        duration(seconds),
        largest.div_ceil(1_000_000)
    )?;
    for (label, left) in open {
        writeln!(out, "{label} runs when its search is done: {left} trials are left.")?;
    }
    Ok(())
}

pub(crate) fn show_schema() -> Result<()> {
    Ok(writeln!(terminal::stdout(), "{}", serde_json::to_string_pretty(&schema())?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suites_that_are_part_of_the_program_have_no_mistakes() {
        for (name, _) in SUITES {
            suite(name).unwrap_or_else(|e| panic!("{e}"));
        }
    }
}
