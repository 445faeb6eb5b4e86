//! `dubio check`: posterior predictive checks of a predictions file.

mod render;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::ValueEnum;
use dubio_metrics::calibrate::joint::{self, Sharing};
use dubio_metrics::check::{self, Checked, Checking, Mode, Predictive, Rule, recalibration_rows};
use dubio_metrics::examples::Examples;
use dubio_metrics::members::{Form, Members};
use dubio_metrics::pool::pool;
use dubio_metrics::score::Options;
use dubio_metrics::scorecard::Progress;
use dubio_metrics::views::{Rows, Tempered};
use dubio_metrics::{classification, regression};
use dubio_predictions::{Classification, Predictions, Regression, RegressionKind, open};
use dubio_random::stream::Stream;

use crate::Outcome;
use crate::progress::Bar;
use dubio_api::costs::read_costs;
use dubio_api::loading::{at_fault, labels, note_ignored, outcomes};
use dubio_api::names::Selection;

/// Posterior predictive check: could these labels have come from the model itself?
///
/// The ensemble makes labels of its own, many times over, and each replicate is scored as the true
/// labels are. Where the observed score lies outside what the replicates give, the model does not
/// know how wrong it is. A large `ece` alone says nothing of the kind: with few examples or members
/// that disagree, the model may well expect it (Gopal 2021).
#[derive(clap::Args)]
#[command(after_help = "Examples:
  dubio check preds.npz
  dubio check preds.npz --statistic ece --statistic accuracy --json
  dubio check preds.npz --mode independent --recalibrate per-member
  dubio check gaussians.npz --statistic picp --rule interval

p_value is the share of replicates strictly below the observed value, sharpness their 95th minus
their 5th percentile. JSON: {\"statistics\": {\"ece\": {\"observed\": ..., \"p_value\": ..., \"sharpness\":
..., \"passes\": ..., \"lo\": ..., \"hi\": ..., \"box\": [...]}}, ...}; lo and hi are the 2.5th and the
97.5th percentile of the replicates, box their 5th, 25th, 50th, 75th and 95th.

Exit codes: 0 done, whether checks pass or not; 1 a statistic asked for by name has no value; 2 could
not run.")]
pub(crate) struct Args {
    /// The predictions.
    file: PathBuf,
    /// A score to check, by name, family or pattern; may be given several times. accuracy and ece
    /// when left out, picp and quantile_calibration for a regression.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    statistic: Vec<String>,
    /// How the ensemble makes labels.
    #[arg(long, value_enum, default_value_t = ModeName::Bayesian)]
    mode: ModeName,
    /// Fit temperatures on the leading fifth of the examples, and check the rest.
    #[arg(long, value_enum, value_name = "HOW")]
    recalibrate: Option<SharingName>,
    /// When a check passes.
    #[arg(long, value_enum, default_value_t = RuleName::Range)]
    rule: RuleName,
    /// Number of replicates.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(20..=1_000_000))]
    replicates: u32,
    /// Number of bins of every binned score.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    bins: u16,
    /// Cost matrix as CSV without a head, for decision_cost.
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    /// Seed of the replicates.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Number of threads; all cores when left out. The results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ModeName {
    /// One member makes all labels of a replicate (Gopal 2021, algorithm 2).
    Bayesian,
    /// Every label has a member of its own (algorithm 4).
    Independent,
}

#[derive(Clone, Copy, ValueEnum)]
enum SharingName {
    /// A temperature for each member, fitted together.
    PerMember,
    /// The same temperature for all members.
    One,
}

#[derive(Clone, Copy, ValueEnum)]
enum RuleName {
    /// The p-value is neither 0 nor 1.
    Range,
    /// The observed value is between the 2.5th and the 97.5th percentile of the replicates.
    Interval,
}

/// What was checked, and how.
struct Report {
    checked: Vec<Checked>,
    mode: Mode,
    rule: Rule,
    replicates: usize,
    members: usize,
    /// Number of examples that were checked.
    n: usize,
    temperatures: Option<Vec<f64>>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let file = open(&args.file)?;
    let names = if !args.statistic.is_empty() {
        args.statistic.clone()
    } else {
        let default: [&str; 2] = match &file {
            Predictions::Classification(_) => ["accuracy", "ece"],
            Predictions::Regression(_) => ["picp", "quantile_calibration"],
        };
        default.map(String::from).to_vec()
    };
    let selection = Selection::new(&names)?;
    let progress = Bar::new();
    let root = Stream::root(args.seed);
    let wanted = |name: &str| selection.wants(name);
    let checking = Checking {
        mode: match args.mode {
            ModeName::Bayesian => Mode::Bayesian,
            ModeName::Independent => Mode::Independent,
        },
        replicates: args.replicates as usize,
        options: Options { bins: args.bins.into(), ..Options::default() },
        stream: root.child("check"),
        splits: root.child("calibrated"),
        wanted: &wanted,
        progress: &progress,
    };
    let report = match &file {
        Predictions::Classification(file) => classified(args, file, &checking)?,
        Predictions::Regression(file) => regressed(args, file, &checking)?,
    };
    drop(progress);
    let there: Vec<&str> = report.checked.iter().map(|c| &c.statistic[..]).collect();
    if let Some(name) = selection.missing(&there).first() {
        bail!(
            "`{name}` is not a statistic of {}; `dubio list scores` shows which there are of \
             classification and of regression",
            args.file.display()
        );
    }
    if args.json {
        render::json(&report)?
    } else {
        render::table(&report)?
    }
    let undefined = |c: &Checked| c.observed.is_err() && selection.names(&c.statistic);
    Ok(if report.checked.iter().any(undefined) { Outcome::Undefined } else { Outcome::Done })
}

impl Args {
    fn rule(&self) -> Rule {
        match self.rule {
            RuleName::Range => Rule::Range,
            RuleName::Interval => Rule::Interval,
        }
    }
}

fn classified(args: &Args, file: &Classification, checking: &Checking<'_>) -> Result<Report> {
    note_ignored(&file.path, &file.ignored, &Bar::new());
    let labels = labels(file)?;
    let Some(how) = args.recalibrate else {
        return check_members(args, file, &file.source, file.form, labels, checking);
    };
    held(file, &file.source, file.form, checking.progress)?; // so that faults are told by their place
    let n = labels.len();
    let leading = recalibration_rows(n);
    if n < 2 {
        bail!("{}: one example cannot be both fitted to and checked", file.path.display());
    }
    let sharing = match how {
        SharingName::PerMember => Sharing::PerMember,
        SharingName::One => Sharing::One,
    };
    let first = Rows::new(&file.source, 0..leading);
    let temperatures =
        joint::fit(&first, file.form, &labels[..leading], sharing).map_err(|why| {
            anyhow::anyhow!(
                "{}: no temperatures on the leading {leading} examples: {}",
                file.path.display(),
                why.0
            )
        })?;
    let rest = Rows::new(&file.source, leading..n);
    let tempered = Tempered::new(&rest, file.form, &temperatures);
    let labels = labels[leading..].to_vec();
    let report = check_members(args, file, &tempered, Tempered::FORM, labels, checking)?;
    Ok(Report { temperatures: Some(temperatures), ..report })
}

/// The members' mean, held in memory: every replicate looks into it.
fn held(
    file: &Classification,
    source: &dyn Members,
    form: Form,
    progress: &dyn Progress,
) -> Result<dubio_metrics::pool::Pooled> {
    progress.start("reading", source.examples());
    let pooled = pool(source, form, &|rows| progress.advance(rows));
    Ok(pooled.map_err(|fault| at_fault(file, &fault))?)
}

fn check_members(
    args: &Args,
    file: &Classification,
    source: &dyn Members,
    form: Form,
    labels: Vec<u32>,
    checking: &Checking<'_>,
) -> Result<Report> {
    let costs = args.costs.as_deref().map(|path| read_costs(path, source.width())).transpose()?;
    let mut examples = Examples::new(held(file, source, form, checking.progress)?, labels);
    if let Some(costs) = costs {
        examples = examples.with_costs(costs);
    }
    let scores = classification::scores();
    let checked = check::classification(source, form, &examples, &scores, checking);
    Ok(Report::new(args, checking, checked, source.members(), examples.len()))
}

fn regressed(args: &Args, file: &Regression, checking: &Checking<'_>) -> Result<Report> {
    note_ignored(&file.path, &file.ignored, &Bar::new());
    for (flag, given) in
        [("--recalibrate", args.recalibrate.is_some()), ("--costs", args.costs.is_some())]
    {
        if given {
            bail!("{flag} is for classification, and {} holds a regression", file.path.display());
        }
    }
    let (predictive, members) = match &file.kind {
        RegressionKind::Gaussians(mean, std) => (Predictive::Gaussians(mean, std), mean.members()),
        RegressionKind::Samples(samples) => (Predictive::Samples(samples), samples.members()),
        RegressionKind::Quantiles(..) => bail!(
            "{}: a few quantiles are no distribution to draw from; give `mean` and `std`, or `samples`",
            file.path.display()
        ),
    };
    let outcomes = outcomes(file, checking.options.level)?;
    let scores = regression::scores();
    let checked = check::regression(predictive, &outcomes, &scores, checking);
    Ok(Report::new(args, checking, checked, members, outcomes.len()))
}

impl Report {
    fn new(
        args: &Args,
        checking: &Checking<'_>,
        checked: Vec<Checked>,
        members: usize,
        n: usize,
    ) -> Self {
        let (mode, rule, replicates) = (checking.mode, args.rule(), checking.replicates);
        Self { checked, mode, rule, replicates, members, n, temperatures: None }
    }
}
