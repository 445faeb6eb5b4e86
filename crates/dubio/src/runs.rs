//! `dubio runs`: what a folder of runs holds.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use dubio_bench::run_id::RunId;
use dubio_bench::store::Store;
use serde_json::json;

use crate::terminal::{self, one_line};

/// List, show or remove runs.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
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

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut out = terminal::stdout();
    match &args.command {
        Command::List { runs } => {
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
        Command::Show { id, runs } => {
            let store = Store::new(runs);
            let record = store.record(&only_one(&store, id)?)?;
            writeln!(out, "{}", serde_json::to_string_pretty(&json!(record))?)?;
        }
        Command::Rm { ids, runs } => {
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
