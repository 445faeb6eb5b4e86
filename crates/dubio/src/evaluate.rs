//! `dubio evaluate`: every score of a predictions file.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::builder::ValueParser;
use dubio_api::destination;
use dubio_api::evaluate::{Curves, Settings, evaluate};
use dubio_metrics::binning::Edges;

use crate::progress::Bar;
use crate::{Outcome, render};

/// Score a predictions file.
///
/// A file is .npz, .safetensors, .csv, .tsv, .parquet, a folder of .npy, or `-` for standard input.
/// Classification: `logits`, `log_probs` or `probs` `[members, examples, classes]`, and `labels`.
/// Regression: `mean` and `std` (or `var`) `[members, examples]`, or `samples`, or `quantiles` and
/// `levels`, or `lower` and `upper`; and `targets`. The arrays tell which of the two it is.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio evaluate preds.npz
  dubio evaluate preds.npz --json > scores.json
  dubio evaluate preds.npz --scores ece,nll,calibrated.nll --bins 10
  dubio evaluate id.npz --ood svhn=svhn.npz --ood noise=noise.npz
  dubio evaluate preds.npz --reference hmc.npz
  dubio evaluate preds.npz --groups region --costs costs.csv

JSON: one object, {\"ece\": {\"value\": 0.012, \"lo\": 0.010, \"hi\": 0.019, \"n\": 10000}, ...}. A score \
without a value has \"value\": null and \"why\"; an infinite one has \"value\": \"inf\" and \"why\".")]
pub(crate) struct Args {
    /// The predictions.
    file: PathBuf,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Only these scores: names, families (`misclassification`) or patterns (`calibrated.*`).
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    scores: Vec<String>,
    /// Out-of-distribution predictions of the same model; may be given several times.
    #[arg(long, value_name = "NAME=FILE", value_parser = ValueParser::new(named_file))]
    ood: Vec<(String, PathBuf)>,
    /// Reference predictions of the same examples, for `agreement` and `total_variation`.
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Also score each group of the array `groups.NAME`, or of `groups` when no name follows; more
    /// than 100 groups are summarised (worst, p10, median), without intervals.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    groups: Option<String>,
    /// Cost matrix as CSV without a header: a row per decision, a column per true class.
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    /// Number of bins in every binned score.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    bins: u16,
    /// Bin edges of ece, sece and mce: right-closed, left-closed, torchmetrics, drop-one or
    /// quantile-strict. Use the others only to reproduce published numbers.
    #[arg(long, default_value = "right-closed", value_name = "NAME")]
    ece_edges: Edges,
    /// tace ignores probabilities at or below this.
    #[arg(long, default_value_t = 1e-3, value_parser = ValueParser::new(below_one))]
    threshold: f64,
    /// Nominal coverage of the central interval of picp, mpiw and interval_score, and of `lower` and
    /// `upper`.
    #[arg(long, default_value_t = 0.95, value_parser = ValueParser::new(inside_unit))]
    level: f64,
    /// Bootstrap resamples behind the 95 % intervals.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(20..=1_000_000))]
    resamples: u32,
    /// Do not compute intervals.
    #[arg(long)]
    no_intervals: bool,
    /// Seed of the resamples and of the cross-validation splits.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Also write the reliability diagram and the risk-coverage curve to this JSON file.
    #[arg(long, value_name = "FILE")]
    curves: Option<PathBuf>,
    /// Number of threads [default: all cores]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() && !name.contains('.') => {
            Ok((name.to_string(), PathBuf::from(file)))
        }
        _ => Err("give a name without dots and a file: --ood svhn=svhn.npz".to_string()),
    }
}

fn below_one(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if (0.0..1.0).contains(&value) { Ok(value) } else { Err("must be in [0, 1)".to_string()) }
}

fn inside_unit(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if value > 0.0 && value < 1.0 { Ok(value) } else { Err("must be between 0 and 1".to_string()) }
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let settings = args.settings();
    if let Some(path) = &args.curves {
        destination::check(path)?;
        destination::keep(settings.inputs(), &[path])?;
    }
    let evaluated = evaluate(&settings, &Bar::new())?;
    if let (Some(path), Some(curves)) = (&args.curves, &evaluated.curves) {
        write_curves(path, curves)?;
    }
    if args.json {
        render::json(&evaluated.scores)?
    } else {
        render::table(&evaluated.scores)?
    }
    Ok(if evaluated.undefined.is_empty() { Outcome::Done } else { Outcome::Undefined })
}

fn write_curves(path: &Path, curves: &Curves) -> Result<()> {
    let text = serde_json::to_string(curves)?;
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

impl Args {
    fn settings(&self) -> Settings {
        Settings {
            file: self.file.clone(),
            scores: self.scores.clone(),
            ood: self.ood.clone(),
            reference: self.reference.clone(),
            groups: self.groups.clone(),
            costs: self.costs.clone(),
            bins: self.bins.into(),
            edges: self.ece_edges,
            threshold: self.threshold,
            level: self.level,
            resamples: if self.no_intervals { 0 } else { self.resamples as usize },
            seed: self.seed,
            curves: self.curves.is_some(),
        }
    }
}
