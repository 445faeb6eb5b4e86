//! `dubio evaluate`: every score of a predictions file.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::builder::ValueParser;
use dubio_metrics::binning::Edges;
use dubio_metrics::bootstrap::Bootstrap;
use dubio_metrics::detection::ood::Uncertainties;
use dubio_metrics::examples::Examples;
use dubio_metrics::given::possible;
use dubio_metrics::members::Members;
use dubio_metrics::pool::Pooled;
use dubio_metrics::score::{Options, Score};
use dubio_metrics::scorecard::{self, Entry, Examined, Progress, Scoring};
use dubio_metrics::{classification, regression};
use dubio_predictions::{Classification, Predictions, Regression, open};
use dubio_random::stream::Stream;

use crate::curves::write_curves;
use crate::progress::Bar;
use crate::{Outcome, destination, render};
use dubio_api::costs::read_costs;
use dubio_api::groups::grouping;
use dubio_api::loading::{self, labels, note_ignored, outcomes};
use dubio_api::names::{Selection, base};

/// Score a predictions file: .npz, .safetensors, or a folder of .npy.
///
/// Classification: `logits`, `log_probs` or `probs` `[members, examples, classes]` and `labels`.
/// Regression: `mean` and `std` `[members, examples]`, or `samples`, or `quantiles` and `levels`;
/// and `targets`. Which of the two is seen from the arrays.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio evaluate preds.npz
  dubio evaluate preds.npz --json > scores.json
  dubio evaluate preds.npz --scores ece,nll,calibrated.nll --bins 10
  dubio evaluate id.npz --ood svhn=svhn.npz --ood noise=noise.npz
  dubio evaluate preds.npz --reference hmc.npz
  dubio evaluate preds.npz --groups region --costs costs.csv

JSON: one object, {\"ece\": {\"value\": 0.012, \"lo\": 0.010, \"hi\": 0.019, \"n\": 10000}, ...}. A score
without a value has \"value\": null and \"why\"; an infinite one has \"value\": \"inf\" and \"why\".")]
pub(crate) struct Args {
    /// The predictions.
    file: PathBuf,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Only these scores, by name, family (`misclassification`) or pattern (`calibrated.*`).
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    scores: Vec<String>,
    /// Out-of-domain predictions of the same model; may be given several times.
    #[arg(long, value_name = "NAME=FILE", value_parser = ValueParser::new(named_file))]
    ood: Vec<(String, PathBuf)>,
    /// Reference predictions of the same examples, for `agreement` and `total_variation`.
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Scores per group of the array `groups.NAME`, or of `groups` when no name follows; more than
    /// 100 groups are summarised (worst, p10, median), without intervals.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    groups: Option<String>,
    /// Cost matrix as CSV without a head: a row per decision, a column per true class.
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    /// Number of bins of every binned score.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    bins: u16,
    /// Bin edges of ece, sece and mce: right-closed, left-closed, torchmetrics, drop-one or
    /// quantile-strict; all but the first only to reproduce published figures.
    #[arg(long, default_value = "right-closed", value_name = "NAME")]
    ece_edges: Edges,
    /// Probabilities at or below it do not count in tace.
    #[arg(long, default_value_t = 1e-3, value_parser = ValueParser::new(below_one))]
    threshold: f64,
    /// Mass of the central interval of picp, mpiw and interval_score.
    #[arg(long, default_value_t = 0.95, value_parser = ValueParser::new(inside_unit))]
    level: f64,
    /// Bootstrap resamples behind the 95 % intervals.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(20..=1_000_000))]
    resamples: u32,
    /// Leave the intervals out.
    #[arg(long)]
    no_intervals: bool,
    /// Seed of the resamples and of the cross-validation's splits.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Also write the reliability diagram and the risk-coverage curve to this JSON file.
    #[arg(long, value_name = "FILE")]
    curves: Option<PathBuf>,
    /// Number of threads; all cores when left out. The results do not depend on it.
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

impl Args {
    /// Every file that is read.
    fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        let outside = self.ood.iter().map(|(_, path)| path);
        [&self.file].into_iter().chain(outside).chain(&self.reference).chain(&self.costs)
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    if let Some(path) = &args.curves {
        destination::check(path)?;
        destination::keep(args.inputs(), &[path])?;
    }
    let selection = Selection::new(&args.scores)?;
    let progress = Bar::new();
    let wanted = |name: &str| selection.wants(name);
    let root = Stream::root(args.seed);
    let scoring = Scoring {
        options: Options {
            bins: args.bins.into(),
            edges: args.ece_edges,
            threshold: args.threshold,
            level: args.level,
        },
        bootstrap: (!args.no_intervals).then(|| Bootstrap {
            resamples: args.resamples as usize,
            stream: root.child("bootstrap"),
        }),
        splits: root.child("calibrated"),
        wanted: &wanted,
        progress: &progress,
    };
    let entries = match open(&args.file)? {
        Predictions::Classification(file) => classified(args, &file, &scoring, &selection)?,
        Predictions::Regression(file) => regressed(args, &file, &scoring, &selection)?,
    };
    drop(progress);
    let names: Vec<&str> = entries.iter().map(|e| &e.name[..]).collect();
    if let Some(name) = selection.missing(&names).first() {
        bail!("`{name}` is not a score of this file: {}", why_missing(name, args));
    }
    if args.json {
        render::json(&entries)?
    } else {
        render::table(&entries)?
    }
    let undefined = entries.iter().any(|e| e.value.is_err() && selection.names(&e.name));
    Ok(if undefined { Outcome::Undefined } else { Outcome::Done })
}

fn why_missing(name: &str, args: &Args) -> &'static str {
    match name.split('.').next().unwrap_or_default() {
        "ood" => "give that set with --ood NAME=FILE",
        "group" | "worst_group" | "p10_group" | "median_group" if args.groups.is_none() => {
            "give groups with --groups"
        }
        "group" => {
            "no example has this group, or there are more than 100, which are only summarised"
        }
        "worst_group" | "p10_group" => "neither of its ends is worse",
        "median_group" => "it is for more than 100 groups; fewer are listed one by one",
        "calibrated" => "it has no calibrated form",
        _ => "it belongs to the other kind of predictions (classification or regression)",
    }
}

fn classified(
    args: &Args,
    file: &Classification,
    scoring: &Scoring<'_>,
    selection: &Selection,
) -> Result<Vec<Entry>> {
    note_ignored(&file.path, &file.ignored, &Bar::new());
    let labels = labels(file)?;
    let groups = args.groups.as_deref().map(|name| grouping(&file.path, &file.groups, name));
    let groups = groups.transpose()?;
    let costs = args.costs.as_deref().map(|path| read_costs(path, file.source.width()));
    let costs = costs.transpose()?;
    let pooled = loading::pooled(file, scoring.progress)?;
    let inside = (!args.ood.is_empty()).then(|| Uncertainties::of(&pooled));
    let mut examples = Examples::new(pooled, labels);
    if let Some(path) = &args.reference {
        let reference = reference(path, &examples, scoring.progress)?;
        examples = examples.with_reference(&reference);
    }
    if let Some(costs) = costs {
        examples = examples.with_costs(costs);
    }
    let scores = possible(classification::scores(), &examples, |name| selection.asks_for(name));
    let mut entries = scorecard::plain(&examples, &scores, scoring);
    examples.forget();
    entries.extend(scorecard::calibrated(&examples, &scores, scoring));
    if let Some(groups) = groups {
        entries.extend(grouped(&examples, &scores, groups, scoring, selection));
    }
    for (name, path, inside) in args.ood.iter().filter_map(|(n, p)| Some((n, p, inside.as_ref()?)))
    {
        let outside = match open(path)? {
            Predictions::Classification(other) => other,
            Predictions::Regression(_) => {
                bail!("{}: out-of-domain detection needs classes", path.display())
            }
        };
        same_classes(path, file.source.width(), outside.source.width())?;
        let outside = Uncertainties::of(&loading::pooled(&outside, scoring.progress)?);
        entries.extend(scorecard::ood(name, inside, &outside, scoring));
    }
    if let Some(path) = &args.curves {
        write_curves(path, &examples, args.bins.into())?;
    }
    Ok(entries)
}

/// The scores over groups. A plain score's name asks for its values over groups too.
fn grouped<E: Examined>(
    examples: &E,
    scores: &[Box<dyn Score<E>>],
    groups: &[i64],
    scoring: &Scoring<'_>,
    selection: &Selection,
) -> Vec<Entry> {
    let wanted = |name: &str| selection.wants_grouped(name);
    let scoring = Scoring { wanted: &wanted, ..clone(scoring) };
    let mut entries = scorecard::grouped(examples, scores, groups, &scoring);
    entries.retain(|e| selection.wants(&e.name) || selection.wants(base(&e.name)));
    entries
}

fn clone<'a>(scoring: &Scoring<'a>) -> Scoring<'a> {
    Scoring {
        options: scoring.options.clone(),
        bootstrap: scoring.bootstrap.clone(),
        splits: scoring.splits.clone(),
        ..*scoring
    }
}

fn reference(path: &Path, examples: &Examples, progress: &dyn Progress) -> Result<Pooled> {
    let Predictions::Classification(file) = open(path)? else {
        bail!("{}: a reference must predict classes", path.display());
    };
    same_classes(path, examples.classes, file.source.width())?;
    if file.source.examples() != examples.len() {
        bail!(
            "{}: {} examples, but the predictions have {}; a reference must predict the same examples",
            path.display(),
            file.source.examples(),
            examples.len()
        );
    }
    if let Some(labels) = &file.labels
        && let Some(i) = (0..labels.len()).find(|&i| labels[i] != examples.labels[i])
    {
        bail!(
            "{}, array `labels`: label {} at example {i}, but the predictions have {}; the examples \
             must be the same, in the same order",
            path.display(),
            labels[i],
            examples.labels[i]
        );
    }
    Ok(loading::pooled(&file, progress)?)
}

fn same_classes(path: &Path, own: usize, other: usize) -> Result<()> {
    if own != other {
        bail!("{}: {other} classes, but the predictions have {own}", path.display());
    }
    Ok(())
}

fn regressed(
    args: &Args,
    file: &Regression,
    scoring: &Scoring<'_>,
    selection: &Selection,
) -> Result<Vec<Entry>> {
    note_ignored(&file.path, &file.ignored, &Bar::new());
    for (flag, given) in [
        ("--ood", !args.ood.is_empty()),
        ("--reference", args.reference.is_some()),
        ("--costs", args.costs.is_some()),
        ("--curves", args.curves.is_some()),
    ] {
        if given {
            bail!("{flag} is for classification, and {} holds a regression", file.path.display());
        }
    }
    let outcomes = outcomes(file, scoring.options.level)?;
    let scores = possible(regression::scores(), &outcomes, |name| selection.asks_for(name));
    let mut entries = scorecard::plain(&outcomes, &scores, scoring);
    if let Some(name) = &args.groups {
        let groups = grouping(&file.path, &file.groups, name)?;
        entries.extend(grouped(&outcomes, &scores, groups, scoring, selection));
    }
    Ok(entries)
}
