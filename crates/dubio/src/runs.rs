//! `dubio runs` and `dubio score`: what a folder of runs holds.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use dubio_api::scores::{Extent, scores};
use dubio_bench::run_id::RunId;
use dubio_bench::score::Asked;
use dubio_bench::store::Store;
use dubio_bench::study::Study;
use dubio_report::render::no_formula;
use serde_json::json;

use crate::terminal::{self, one_line};
use dubio_api::names::Selection;

/// Score the finished runs of a folder, long and tidy, as CSV.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio score runs > scores.csv
  dubio score runs --scores accuracy,calibrated.nll")]
pub(crate) struct ScoreArgs {
    /// Folder of the runs.
    #[arg(default_value = "runs")]
    runs: PathBuf,
    /// Only these scores, by name, family or pattern.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    scores: Vec<String>,
    /// Bootstrap resamples behind the intervals of the test part; 0 for none.
    #[arg(long, default_value_t = 1000)]
    resamples: u32,
}

/// List, show or remove runs.
#[derive(clap::Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    command: RunsCommand,
}

#[derive(clap::Subcommand)]
enum RunsCommand {
    /// The finished runs.
    List {
        /// Folder of the runs.
        #[arg(long, value_name = "FOLDER", default_value = "runs")]
        runs: PathBuf,
    },
    /// The record of a run.
    Show {
        /// Its id, or the beginning of it.
        id: String,
        /// Folder of the runs.
        #[arg(long, value_name = "FOLDER", default_value = "runs")]
        runs: PathBuf,
    },
    /// Remove runs and all that belongs to them.
    Rm {
        /// Their ids, or the beginnings of them.
        #[arg(required = true)]
        ids: Vec<String>,
        /// Folder of the runs.
        #[arg(long, value_name = "FOLDER", default_value = "runs")]
        runs: PathBuf,
    },
}

pub(crate) fn score_runs(args: &ScoreArgs) -> Result<()> {
    let selection = Selection::new(&args.scores)?;
    let store = Store::new(&args.runs);
    let records = store.finished()?;
    if records.is_empty() {
        bail!("{}: no finished runs; `dubio run quick` makes some", args.runs.display());
    }
    let studies = Study::all(&store)?;
    let mut out = csv::Writer::from_writer(terminal::stdout());
    out.write_record([
        "run", "data", "network", "method", "seed", "samples", "split", "score", "value", "lo",
        "hi", "n", "why",
    ])?;
    for record in records {
        let all = |_: &str, _: &str| true;
        let resamples = args.resamples as usize;
        let planned = studies
            .iter()
            .find_map(|study| Some((study, study.runs.iter().find(|run| run.id == record.id)?)));
        let asked = match planned {
            Some((study, run)) => study.asked(run, &store, resamples, &all),
            None => Asked { resamples, reference: None, groups: None, wanted: &all },
        };
        let rows = scores(&store, &record, Extent::Everything, &asked)?;
        for row in rows.iter().filter(|row| selection.wants(&row.entry.name)) {
            let s = &record.settings;
            let number = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
            let (value, why) = match &row.entry.value {
                Ok(value) => (value.to_string(), String::new()),
                Err(why) => (String::new(), why.0.clone()),
            };
            out.write_record([
                &row.run,
                &*no_formula(&s.data),
                &no_formula(&s.network),
                &no_formula(&record.label),
                &s.seed.to_string(),
                &record.samples.to_string(),
                &no_formula(&row.split),
                &no_formula(&row.entry.name),
                &value,
                &number(row.entry.interval.map(|(lo, _)| lo)),
                &number(row.entry.interval.map(|(_, hi)| hi)),
                &row.entry.n.to_string(),
                &no_formula(&why),
            ])?;
        }
    }
    Ok(out.flush()?)
}

pub(crate) fn manage_runs(args: &RunsArgs) -> Result<()> {
    let mut out = terminal::stdout();
    match &args.command {
        RunsCommand::List { runs } => {
            for record in Store::new(runs).finished()? {
                let s = &record.settings;
                let [label, data, network] =
                    [&record.label, &s.data, &s.network].map(|n| one_line(n));
                let seconds = duration(record.spent.train_wall_secs);
                writeln!(
                    out,
                    "{}  {label:<24} {data:<14} {network:<16} seed {:<4} {seconds:>8}",
                    record.id, s.seed
                )?;
            }
        }
        RunsCommand::Show { id, runs } => {
            let store = Store::new(runs);
            let record = store.record(&only_one(&store, id)?)?;
            writeln!(out, "{}", serde_json::to_string_pretty(&json!(record))?)?;
        }
        RunsCommand::Rm { ids, runs } => {
            let store = Store::new(runs);
            for id in ids {
                let id = only_one(&store, id)?;
                store.remove(&id)?;
                writeln!(out, "removed {id}")?;
            }
        }
    }
    Ok(())
}

/// The one run whose id begins like this.
fn only_one(store: &Store, start: &str) -> Result<RunId> {
    let found: Vec<RunId> = store.ids()?.into_iter().filter(|id| id.starts_with(start)).collect();
    match &found[..] {
        [one] => Ok(one.clone()),
        [] => bail!("no run's id begins with `{start}`; `dubio runs list` shows them"),
        several => {
            let ids: Vec<&str> = several.iter().map(|id| &**id).collect();
            bail!("{} runs' ids begin with `{start}`: {}", ids.len(), ids.join(", "))
        }
    }
}

/// Seconds in the unit that suits them.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
