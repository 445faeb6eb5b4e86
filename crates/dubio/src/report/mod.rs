//! `dubio report`: what turns numbers into an answer.

mod examine;
mod files;
mod growth;
mod observe;
mod runs;
mod write;

pub(crate) use runs::study_of_plan;
pub(crate) use write::page;

use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::{Result, bail};
use dubio_report::study::Study;

use crate::destination;

/// Make a report of runs or of predictions from elsewhere: one page that needs nothing else.
///
/// A folder of runs is reported as a study. A predictions file is one model; a folder that holds
/// test.npz, and perhaps ood.NAME.npz and shift.NAME.SEVERITY.npz, is one model with what it
/// predicts elsewhere. Several are compared; those with the same name are runs of one method.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio report runs/ -o report.html
  dubio report preds.npz
  dubio report a.npz b.npz c.npz --names A,B,C
  dubio report swag/ sgd/ --format markdown
  dubio report runs/ --format svg -o figures/

Without -o the page is written to report.html and other formats to the folder report/.")]
pub(crate) struct Args {
    /// A folder of runs, or predictions files.
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// Where to write: a file for html, a folder for the others.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// html, markdown, latex, csv, svg or pdf.
    #[arg(long, default_value = "html", value_name = "NAME")]
    format: Format,
    /// What to call the files, one name each; their file names when left out.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    names: Vec<String>,
    /// Scores per group of the array `groups.NAME`, or of `groups` when no name follows.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    groups: Option<String>,
    /// Cost matrix as CSV without a head: a row per decision, a column per true class.
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    /// Which study of a folder of runs, where it holds several.
    #[arg(long, value_name = "NAME")]
    study: Option<String>,
    /// The model that is a deep ensemble, to say what the others are worth in networks of it.
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// Heading of the report.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Bootstrap resamples behind the intervals, and replicates of the checks.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(20..=1_000_000))]
    resamples: u32,
}

/// What to write.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    Html,
    Markdown,
    Latex,
    Csv,
    Svg,
    Pdf,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if let (Format::Html, Some(path)) = (args.format, &args.output) {
        destination::check(path)?;
        let inside = args.inputs.iter().flat_map(|input| std::fs::read_dir(input).ok());
        let inside = inside.flatten().flatten().map(|entry| entry.path());
        let predictions = ["npz", "safetensors", "npy"].map(OsStr::new);
        let inside: Vec<PathBuf> = inside
            .filter(|path| path.extension().is_some_and(|e| predictions.contains(&e)))
            .collect();
        destination::keep(args.inputs.iter().chain(&args.costs).chain(&inside), &[path])?;
    }
    let mut study = study(args)?;
    if let Some(title) = &args.title {
        study.title.clone_from(title);
    }
    write::write(&study, args.format, args.output.as_deref())
}

fn study(args: &Args) -> Result<Study> {
    if let [folder] = &args.inputs[..]
        && runs::is_store(folder)
    {
        let given = [
            ("--names", !args.names.is_empty()),
            ("--groups", args.groups.is_some()),
            ("--costs", args.costs.is_some()),
            ("--baseline", args.baseline.is_some()),
        ];
        if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
            bail!("{flag} is for predictions files, and {} is a folder of runs", folder.display());
        }
        return runs::study_of_folder(folder, args.study.as_deref(), args.resamples as usize);
    }
    if let Some(folder) = args.inputs.iter().find(|input| runs::is_store(input)) {
        bail!(
            "{} is a folder of runs; report it by itself, or name predictions files only",
            folder.display()
        );
    }
    if args.study.is_some() {
        bail!("--study is for a folder of runs, and {} is none", args.inputs[0].display());
    }
    files::study_of_files(args)
}
