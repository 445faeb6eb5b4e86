//! `dubio data`: lists, fetches and checks data sets.

mod card;
mod look;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Subcommand;
use dubio_data::check::{Status, check};
use dubio_data::fetch::{Downloader, Progress, fetch};
use dubio_data::folder::{data_folder, folder_of};
use dubio_data::sets::own;
use dubio_data::sets::{self, Counts, File, Files, InputKind, Set};
use dubio_words::counted;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use self::card::{card, here};
use crate::Outcome;
use crate::terminal::{self, say};

/// List, fetch and check data sets.
///
/// Files are kept in $DUBIO_DATA, or in the platform's folder for user data. Small data sets
/// (`digits`, `fashion8`, `parabola`, and three tables) are part of the program and need no files.
/// Only `fetch` downloads anything.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio data list                  every data set, and whether it is here
  dubio data fetch mnist yacht     download and verify; resumes after an interruption
  dubio data check mnist           compare the files with the published checksums
  dubio data check mine.csv        look at your own data before training")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    /// Folder of the data sets, instead of $DUBIO_DATA.
    #[arg(long, global = true, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    List(ListArgs),
    Fetch(FetchArgs),
    Check(CheckArgs),
}

/// List the data sets: inputs, size, and whether they are on this machine.
#[derive(clap::Args)]
struct ListArgs {
    /// Print everything as JSON: classes, licence, citation, files and their checksums.
    #[arg(long)]
    json: bool,
}

/// Download data sets.
///
/// Files that are already here and match the published checksums are kept; others are replaced. An
/// interrupted download resumes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  dubio data fetch mnist cifar-10\n  dubio data fetch svhn --dir /data"
)]
struct FetchArgs {
    /// Names of data sets.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
}

/// Compare the files of data sets with the published checksums, or look at your own data.
///
/// Your own data are named by their path, with options behind a colon: shape, classes, ranges, missing
/// values, duplicates, and test examples that are also in the training set are shown before you train.
/// Exit code 1 when a file is missing or differs.
#[derive(clap::Args)]
#[command(after_help = look::help())]
struct CheckArgs {
    /// Names of data sets, or paths of your own data.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let chosen = args.dir.clone();
    let root = |set| chosen.clone().map_or_else(|| folder_of(set), Ok);
    match &args.command {
        Command::List(args) => {
            let root = chosen.map_or_else(data_folder, Ok);
            list(args, &root.unwrap_or_default()).map(|()| Outcome::Done)
        }
        Command::Fetch(args) => {
            fetch_all(args, &chosen.map_or_else(data_folder, Ok)?).map(|()| Outcome::Done)
        }
        Command::Check(args) => check_all(args, root),
    }
}

fn named(names: &[String]) -> Result<Vec<&'static Set>> {
    Ok(names.iter().map(|name| sets::find(name)).collect::<Result<_, _>>()?)
}

fn list(args: &ListArgs, root: &Path) -> Result<()> {
    let mut out = terminal::stdout();
    if args.json {
        let cards: Vec<Value> = sets::list().into_iter().map(|set| card(set, root)).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&cards)?)?;
        return Ok(());
    }
    out.heading(&format!(
        "{:<17} {:<9} {:<12} {:<32} {}",
        "name", "here", "inputs", "examples", "summary"
    ))?;
    for set in sets::list() {
        let (name, shape, counts, here) = (set.name, shape(set), counts(set), here(set, root));
        writeln!(out, "{name:<17} {here:<9} {shape:<12} {counts:<32} {}", set.summary)?;
    }
    writeln!(
        out,
        "\nFolder: {}. `--json` adds classes, licence, citation and files.\n\
         Parts are named `mnist:test`, `yacht:standard/3/train`, `yacht:gap/0/test`.",
        root.display()
    )?;
    Ok(())
}

fn shape(set: &Set) -> String {
    match set.inputs {
        InputKind::Images { channels, height, width, .. } => {
            format!("{channels} x {height} x {width}")
        }
        InputKind::Features(width) => counted(width, "feature"),
    }
}

fn counts(set: &Set) -> String {
    match set.counts {
        Counts::Parts { train: 0, test } => format!("{test} test"),
        Counts::Parts { train, test } => format!("{train} train, {test} test"),
        Counts::Splits { rows, standard, gap } => {
            format!("{rows} rows, {standard} splits, {gap} gaps")
        }
    }
}

fn fetch_all(args: &FetchArgs, root: &Path) -> Result<()> {
    let downloader = Downloader::default();
    for set in named(&args.names)? {
        if matches!(set.files, Files::Embedded) {
            say!("{}: part of the program, nothing to fetch", set.name);
            continue;
        }
        let bar = ProgressBar::no_length();
        let template = "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta:>4}";
        bar.set_style(ProgressStyle::with_template(template)?);
        let fetched = fetch(&downloader, set, root, &mut |now: Progress<'_>| {
            if bar.message() != now.file {
                bar.set_message(now.file.to_string());
                bar.reset();
            }
            bar.set_length(now.total.unwrap_or(now.done));
            bar.set_position(now.done);
        });
        bar.finish_and_clear();
        match fetched? {
            0 => say!("{}: already here", set.name),
            count => say!("{}: {} in {}", set.name, counted(count, "file"), root.display()),
        }
    }
    Ok(())
}

fn check_all(
    args: &CheckArgs,
    root: impl Fn(&'static Set) -> Result<PathBuf, dubio_data::Error>,
) -> Result<Outcome> {
    let mut out = terminal::stdout();
    let mut whole = true;
    let mut cards = Vec::new();
    for name in &args.names {
        if own::is_own(name) {
            let seen = own::look::look(&own::Own::parse(name)?)?;
            match args.json {
                true => cards.push(look::json(&seen)),
                false => look::text(&mut out, &seen)?,
            }
            continue;
        }
        let set = sets::find(name)?;
        if !args.json && Path::new(name).is_dir() {
            writeln!(
                out,
                "{name} is a known data set; write ./{name} for the folder that is here"
            )?;
        }
        let files = check(set, &root(set)?);
        let good = files.iter().filter(|(_, status)| status.is_good()).count();
        whole &= good == files.len();
        if args.json {
            let files: Vec<Value> =
                files.iter().map(|(file, status)| found(file, status)).collect();
            cards.push(json!({"name": set.name, "whole": good == files.len(), "files": files}));
        } else if matches!(set.files, Files::Embedded) {
            writeln!(out, "{}: part of the program", set.name)?;
        } else {
            writeln!(out, "{}: {good} of {} files match", set.name, files.len())?;
            let bad = files.iter().filter(|(_, status)| *status != Status::Good);
            describe(&mut out, &bad.collect::<Vec<_>>())?;
            if good < files.len() && set.is_embedded() {
                writeln!(
                    out,
                    "  only the gap splits need these files; the rest is part of the program"
                )?;
            }
        }
    }
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&cards)?)?;
    }
    Ok(if whole { Outcome::Done } else { Outcome::NotWhole })
}

/// The first files that are not proven good, with the reason.
fn describe(out: &mut impl Write, files: &[&(File, Status)]) -> io::Result<()> {
    const SHOWN: usize = 6;
    for (file, status) in files.iter().take(SHOWN) {
        writeln!(out, "  {}: {}", file.path, reason(status))?;
    }
    if files.len() > SHOWN {
        writeln!(out, "  and {} more", files.len() - SHOWN)?;
    }
    Ok(())
}

fn reason(status: &Status) -> String {
    match status {
        Status::Good => "good".into(),
        Status::Unproven => "right size; no checksum is published".into(),
        Status::Missing => "missing".into(),
        Status::Size { found, expected } => format!("{found} bytes, not {expected}"),
        Status::Altered { found } => format!("not the published file: SHA-256 {found}"),
        Status::Unreadable(why) => format!("cannot be read: {why}"),
    }
}

fn found(file: &File, status: &Status) -> Value {
    json!({"path": file.path, "good": status.is_good(), "status": reason(status)})
}
