//! `dubio compare`: several methods on the same examples.

mod render;

use std::path::PathBuf;

use anyhow::{Result, bail};
use dubio_metrics::bootstrap::Bootstrap;
use dubio_metrics::compare::{Comparison, Contestant, classifiers, forbidden, regressions};
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Members;
use dubio_metrics::pool::pool;
use dubio_metrics::regression::Outcomes;
use dubio_metrics::score::Options;
use dubio_metrics::scorecard::{Progress, Scoring};
use dubio_metrics::views::Chosen;
use dubio_predictions::{Classification, Predictions, Regression, RegressionKind, open};
use dubio_random::stream::Stream;

use crate::Outcome;
use crate::progress::Bar;
use dubio_api::loading::{at_fault, labels, note_ignored, outcomes, pooled};
use dubio_api::names::Selection;
use dubio_api::same::{Truth, same_examples};

/// Compare methods on the same examples: differences with intervals, a ranking, and what may not be
/// compared.
///
/// Every difference comes with a 95 % interval from resamples that both methods share, so that the
/// examples' own difficulty cancels. The order is by calibrated.nll; methods that cannot be told apart
/// are grouped. What the literature has shown to mislead is refused, with the reason and the reference.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio compare a.npz b.npz c.npz --names A,B,C
  dubio compare sgd.npz swag.npz --scores accuracy,brier --json
  dubio compare ensemble.npz swag.npz --members 5      with equal numbers of forward passes

Exit codes: 0 done; 1 the score to rank by has no value or is refused; 2 could not run.")]
pub(crate) struct Args {
    /// The predictions, a file each, of the same examples in the same order.
    #[arg(required = true, num_args = 2..)]
    files: Vec<PathBuf>,
    /// Names of the methods, in the order of the files; those of the files when left out.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    names: Vec<String>,
    /// The score to rank by: calibrated.nll when left out, nll for a regression.
    #[arg(long, value_name = "NAME")]
    score: Option<String>,
    /// Further scores to compare, by name, family or pattern.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    scores: Vec<String>,
    /// Use only the first so many members of every file.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    members: Option<u32>,
    /// Number of bins of every binned score.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    bins: u16,
    /// Bootstrap resamples behind the 95 % intervals.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(20..=1_000_000))]
    resamples: u32,
    /// Seed of the resamples and of the cross-validation's splits.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// Number of threads; all cores when left out. The results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

const CLASSIFICATION: [&str; 8] =
    ["accuracy", "nll", "brier", "ece", "uce", "aurc", "calibrated.nll", "calibrated.brier"];
const REGRESSION: [&str; 5] = ["rmse", "nll", "crps", "qce", "picp"];

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let names = names(args)?;
    let files: Vec<Predictions> =
        args.files.iter().map(|path| Ok(open(path)?)).collect::<Result<_>>()?;
    let truth = Truth::of(&files[0])?;
    for file in &files[1..] {
        same_examples(&truth, &Truth::of(file)?)?;
    }
    let classes = matches!(truth, Truth::Labels { .. });
    let headline = args.score.as_deref().unwrap_or(if classes { "calibrated.nll" } else { "nll" });
    if let Some(caution) = forbidden(headline).filter(|_| classes) {
        bail!(
            "{} is refused: {}; {} ({})",
            caution.what,
            caution.why,
            caution.instead,
            caution.reference
        );
    }
    let mut asked: Vec<String> = args.scores.clone();
    if asked.is_empty() {
        let default: &[&str] = if classes { &CLASSIFICATION } else { &REGRESSION };
        asked.extend(default.iter().map(|name| name.to_string()));
    }
    asked.push(headline.to_string());
    let selection = Selection::new(&asked)?;
    let wanted = |name: &str| selection.wants(name);
    let (progress, root) = (Bar::new(), Stream::root(args.seed));
    let scoring = Scoring {
        options: Options { bins: args.bins.into(), ..Options::default() },
        bootstrap: Some(Bootstrap {
            resamples: args.resamples as usize,
            stream: root.child("bootstrap"),
        }),
        splits: root.child("calibrated"),
        wanted: &wanted,
        progress: &progress,
    };
    let comparison = compared(args, files, names, headline, &scoring)?;
    drop(progress);
    let there: Vec<&str> = comparison.scores.iter().map(|scored| &scored.score[..]).collect();
    let missing = selection.missing(&there);
    if let Some(name) = missing.iter().find(|name| forbidden(name).is_none()) {
        bail!("`{name}` is not a score of these files; `dubio list scores` shows which there are");
    }
    let mut comparison = comparison;
    comparison.cautions.extend(missing.iter().filter_map(|name| forbidden(name)));
    if args.json {
        render::json(&comparison)?
    } else {
        render::table(&comparison, headline)?
    }
    Ok(if comparison.ranking.is_some() { Outcome::Done } else { Outcome::Undefined })
}

fn names(args: &Args) -> Result<Vec<String>> {
    if !args.names.is_empty() && args.names.len() != args.files.len() {
        bail!("{} names for {} files", args.names.len(), args.files.len());
    }
    let stem = |path: &PathBuf| {
        path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    };
    let names: Vec<String> = match args.names.is_empty() {
        true => args.files.iter().map(stem).collect(),
        false => args.names.clone(),
    };
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            bail!("two methods are called `{name}`; tell them apart with --names");
        }
    }
    Ok(names)
}

fn compared(
    args: &Args,
    files: Vec<Predictions>,
    names: Vec<String>,
    headline: &str,
    scoring: &Scoring<'_>,
) -> Result<Comparison> {
    let (mut classes, mut numbers) = (Vec::new(), Vec::new());
    for (file, name) in files.into_iter().zip(names) {
        match file {
            Predictions::Classification(file) => {
                let (members, examples) = classified(args, &file, scoring.progress)?;
                classes.push(Contestant { name, members, examples });
            }
            Predictions::Regression(file) => {
                let (members, examples) = regressed(args, &file, scoring.options.level)?;
                numbers.push(Contestant { name, members, examples });
            }
        }
    }
    Ok(match numbers[..] {
        [] => classifiers(&mut classes, headline, scoring),
        _ => regressions(&numbers, headline, scoring),
    })
}

impl Args {
    /// How many of a file's members are used; says when there are too few.
    fn used(&self, path: &std::path::Path, there: usize) -> Result<usize> {
        let wanted = self.members.map_or(there, |members| members as usize);
        if wanted > there {
            bail!("{}: {there} members, but --members asks for {wanted}", path.display());
        }
        Ok(wanted)
    }
}

fn classified(
    args: &Args,
    file: &Classification,
    progress: &dyn Progress,
) -> Result<(usize, Examples)> {
    note_ignored(&file.path, &file.ignored, &Bar::new());
    let there = file.source.members();
    let members = args.used(&file.path, there)?;
    let pooled = if members == there {
        pooled(file, progress)?
    } else {
        let some = Chosen::of(&file.source, 0..members);
        let pooled = pool(&some, file.form, &|_| ()).map_err(|fault| at_fault(file, &fault))?;
        file.source.read_rest()?;
        pooled
    };
    Ok((members, Examples::new(pooled, labels(file)?)))
}

fn regressed(args: &Args, file: &Regression, level: f64) -> Result<(usize, Outcomes)> {
    note_ignored(&file.path, &file.ignored, &Bar::new());
    let there = match &file.kind {
        RegressionKind::Gaussians(source, _) | RegressionKind::Samples(source) => source.members(),
        RegressionKind::Quantiles(..) => 1,
    };
    let members = args.used(&file.path, there)?;
    if members == there {
        return Ok((members, outcomes(file, level)?));
    }
    outcomes(file, level)?; // so that faults are told by their place
    let targets = file.targets.clone();
    let some = match &file.kind {
        RegressionKind::Gaussians(mean, std) => {
            let (mean, std) = (Chosen::of(mean, 0..members), Chosen::of(std, 0..members));
            Outcomes::gaussians(&mean, &std, targets, level)
        }
        RegressionKind::Samples(samples) => {
            Outcomes::samples(&Chosen::of(samples, 0..members), targets, level)
        }
        RegressionKind::Quantiles(..) => return Ok((members, outcomes(file, level)?)),
    };
    Ok((members, some?))
}
