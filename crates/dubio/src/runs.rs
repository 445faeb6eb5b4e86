//! `dubio runs`: what a folder of runs holds.

use std::io::{StdoutLock, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use dubio_bench::run_id::RunId;
use dubio_bench::store::{Record, Store};
use serde_json::json;

use crate::terminal::{self, Visible, one_line};

/// List, show or delete runs.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List the finished runs.
    List {
        /// Print the whole records as JSON.
        #[arg(long)]
        json: bool,
        /// Folder of the runs.
        #[arg(long, value_name = "FOLDER", default_value = "runs")]
        runs: PathBuf,
    },
    /// Print the record of a run as JSON.
    Show {
        /// Its ID, or the first characters of it.
        id: String,
        /// Folder of the runs.
        #[arg(long, value_name = "FOLDER", default_value = "runs")]
        runs: PathBuf,
    },
    /// Delete runs and everything that belongs to them.
    Rm {
        /// Their IDs, or the first characters of them.
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
        Command::List { runs, json } => list(&mut out, &store(runs)?, *json)?,
        Command::Show { id, runs } => {
            let store = store(runs)?;
            let record = store.record(&only_one(&store, id)?)?;
            writeln!(out, "{}", serde_json::to_string_pretty(&json!(record))?)?;
        }
        Command::Rm { ids, runs } => {
            let store = store(runs)?;
            for id in ids {
                let id = only_one(&store, id)?;
                store.remove(&id)?;
                writeln!(out, "removed {id}")?;
            }
        }
    }
    Ok(())
}

/// A folder of runs, which must be there.
fn store(folder: &Path) -> Result<Store> {
    if !folder.is_dir() {
        bail!(
            "there is no folder {}; name the folder of the runs with --runs, or make some with \
             `dubio run quick`",
            folder.display()
        );
    }
    Ok(Store::new(folder))
}

/// A line for each finished run, below the names of the columns; or their records.
fn list(out: &mut Visible<StdoutLock<'_>>, store: &Store, json: bool) -> Result<()> {
    let records = store.finished()?;
    if json {
        return Ok(writeln!(out, "{}", serde_json::to_string_pretty(&records)?)?);
    }
    let head = ["id", "method", "data", "network", "seed", "trained"].map(String::from);
    let row = |record: &Record| {
        let s = &record.settings;
        let [label, data, network] = [&record.label, &s.data, &s.network].map(|n| one_line(n));
        let (id, seed) = (record.id.to_string(), s.seed.to_string());
        let trained = duration(record.spent.train_wall_secs);
        [id, label.into_owned(), data.into_owned(), network.into_owned(), seed, trained]
    };
    let rows: Vec<[String; 6]> = records.iter().map(row).collect();
    let width = |column: usize| {
        let cells = rows.iter().chain([&head]).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: [usize; 6] = std::array::from_fn(width);
    let line = |row: &[String; 6]| {
        let text = row.iter().zip(widths).take(4).map(|(cell, w)| format!("{cell:<w$}  "));
        let numbers = row.iter().zip(widths).skip(4).map(|(cell, w)| format!("{cell:>w$}  "));
        text.chain(numbers).collect::<String>().trim_end().to_string()
    };
    out.heading(&line(&head))?;
    rows.iter().try_for_each(|row| writeln!(out, "{}", line(row)))?;
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
