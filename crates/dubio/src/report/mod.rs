//! `dubio report`: what turns numbers into an answer.

mod write;

pub(crate) use write::page;

use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::{Context, Result};
use dubio_api::report::{Settings, report};
use dubio_report::render;

use crate::progress::Bar;
use dubio_api::destination;

/// Make a report of runs or of predictions from elsewhere: one page that needs nothing else.
///
/// A folder of runs is reported as a study. A predictions file is one model. So is a folder with
/// test.npz and, optionally, ood.NAME.npz and shift.NAME.SEVERITY.npz, the same model's predictions on
/// other data. Several models are compared; those with the same name are runs of one method.
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
    /// Names of the models, one for each file [default: the file names].
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    names: Vec<String>,
    /// Scores per group of the array `groups.NAME`, or of `groups` when no name follows.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    groups: Option<String>,
    /// Cost matrix as CSV without a header: a row per decision, a column per true class.
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    /// Which study to report, if the folder of runs has several.
    #[arg(long, value_name = "NAME")]
    study: Option<String>,
    /// The model that is a deep ensemble: deep ensemble equivalents of the others refer to it.
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// Heading of the report.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Level of the central intervals of a regression [default: 0.95; for quantiles without it, the widest
    /// interval that every file has].
    #[arg(long, value_name = "LEVEL")]
    level: Option<f64>,
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

impl From<Format> for render::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Html => Self::Html,
            Format::Markdown => Self::Markdown,
            Format::Latex => Self::Latex,
            Format::Csv => Self::Csv,
            Format::Svg => Self::Svg,
            Format::Pdf => Self::Pdf,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if let (Format::Html, Some(path)) = (args.format, &args.output) {
        let folder = destination::folder(path);
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        destination::check(path)?;
        let inside = args.inputs.iter().flat_map(|input| std::fs::read_dir(input).ok());
        let inside = inside.flatten().flatten().map(|entry| entry.path());
        let predictions = ["npz", "safetensors", "npy", "csv", "tsv", "parquet"].map(OsStr::new);
        let inside: Vec<PathBuf> = inside
            .filter(|path| path.extension().is_some_and(|e| predictions.contains(&e)))
            .collect();
        destination::keep(args.inputs.iter().chain(&args.costs).chain(&inside), &[path])?;
    }
    let settings = Settings {
        inputs: args.inputs.clone(),
        names: args.names.clone(),
        groups: args.groups.clone(),
        costs: args.costs.clone(),
        study: args.study.clone(),
        baseline: args.baseline.clone(),
        title: args.title.clone(),
        resamples: args.resamples as usize,
        level: args.level,
    };
    let study = report(&settings, &Bar::new())?;
    write::write(&study, args.format.into(), args.output.as_deref())
}
