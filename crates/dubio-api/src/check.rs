//! `check`: posterior predictive checks of a predictions file.

use std::path::{Path, PathBuf};

use dubio_metrics::calibrate::joint::{self, Sharing};
use dubio_metrics::check::{
    self, Checked, Checking, Mode, Predictive, Rule, Summary, recalibration_rows,
};
use dubio_metrics::classification;
use dubio_metrics::examples::Examples;
use dubio_metrics::members::{Form, Members};
use dubio_metrics::pool::{Pooled, pool};
use dubio_metrics::regression::{self, Parts};
use dubio_metrics::score::Options;
use dubio_metrics::views::{Rows, Tempered};
use dubio_predictions::{Classification, Predictions, Regression, RegressionKind, open};
use dubio_progress::Progress;
use dubio_random::stream::Stream;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::costs::read_costs;
use crate::error::{guard_in_pool, refuse};
use crate::loading::{at_fault, labels, outcomes, tell};
use crate::names::Selection;
use crate::range::{BINS, RESAMPLES, within};

/// What to check, and how.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The predictions.
    pub file: PathBuf,
    /// Scores to check, by name, family or pattern; `accuracy` and `ece` where it is empty, `picp` and
    /// `quantile_calibration` for a regression.
    pub statistics: Vec<String>,
    /// How the ensemble generates labels.
    pub mode: Mode,
    /// Fit temperatures on the leading fifth of the examples, and check the rest.
    pub recalibrate: Option<Sharing>,
    /// Fit them on the leading fifth of this file instead: the same members' predictions of the same examples before a
    /// shift.
    pub recalibrate_on: Option<PathBuf>,
    /// When a check passes.
    pub rule: Rule,
    /// Number of replicates.
    pub replicates: usize,
    /// Number of bins of every binned score.
    pub bins: usize,
    /// Cost matrix as CSV, for `decision_cost`.
    pub costs: Option<PathBuf>,
    /// Seed of the replicates.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            file: PathBuf::new(),
            statistics: Vec::new(),
            mode: Mode::Bayesian,
            recalibrate: None,
            recalibrate_on: None,
            rule: Rule::default(),
            replicates: 1000,
            bins: Options::default().bins,
            costs: None,
            seed: 0,
        }
    }
}

/// What was checked, and how.
#[derive(Clone, Debug, Serialize)]
pub struct Checks {
    /// How the ensemble generated labels.
    pub mode: Mode,
    /// When a check passes.
    pub rule: Rule,
    /// Number of replicates.
    pub replicates: usize,
    /// Number of members.
    pub members: usize,
    /// Number of examples that were checked.
    pub n: usize,
    /// Temperatures that were fitted on the leading examples.
    pub temperatures: Option<Vec<f64>>,
    /// The result of each check.
    pub statistics: Vec<Summary>,
    /// Statistics that were asked for by their names and have no value.
    pub undefined: Vec<String>,
}

/// Checks a predictions file.
pub fn check(settings: &Settings, progress: &dyn Progress) -> Result<Checks, Error> {
    guard_in_pool(|| checks(settings, progress))
}

fn checks(settings: &Settings, progress: &dyn Progress) -> Result<Checks, Error> {
    within("bins", settings.bins, BINS)?;
    within("replicates", settings.replicates, RESAMPLES)?;
    let file = open(&settings.file)?;
    let names = match (&settings.statistics[..], &file) {
        ([], Predictions::Classification(_)) => ["accuracy", "ece"].map(String::from).to_vec(),
        ([], Predictions::Regression(_)) => {
            ["picp", "quantile_calibration"].map(String::from).to_vec()
        }
        (names, _) => names.to_vec(),
    };
    let selection = Selection::new(&names)?;
    let root = Stream::root(settings.seed);
    let wanted = |name: &str| selection.wants(name);
    let checking = Checking {
        mode: settings.mode,
        replicates: settings.replicates,
        options: Options { bins: settings.bins, ..Options::default() },
        stream: root.child("check"),
        splits: root.child("calibrated"),
        wanted: &wanted,
        progress,
    };
    let checks = match &file {
        Predictions::Classification(file) => {
            tell(&file.path, &file.notes, progress);
            classified(settings, file, &checking)?
        }
        Predictions::Regression(file) => {
            tell(&file.path, &file.notes, progress);
            regressed(settings, file, &checking)?
        }
    };
    let there: Vec<&str> = checks.statistics.iter().map(|s| &s.statistic[..]).collect();
    if let Some(name) = selection.missing(&there).first() {
        refuse!(
            "`{name}` is not a statistic of {}; `dubio list scores` shows which there are of \
             classification and of regression",
            settings.file.display()
        );
    }
    let undefined = checks.undefined.iter().filter(|name| selection.names(name)).cloned().collect();
    Ok(Checks { undefined, ..checks })
}

fn classified(
    settings: &Settings,
    file: &Classification,
    checking: &Checking<'_>,
) -> Result<Checks, Error> {
    let labels = labels(file)?;
    let Some(sharing) = settings.recalibrate else {
        if settings.recalibrate_on.is_some() {
            refuse!("--recalibrate-on goes with --recalibrate per-member or --recalibrate one");
        }
        return check_members(settings, file, &file.source, file.form, labels, checking);
    };
    held(file, &file.source, file.form, checking.progress)?; // so that faults are reported with their place
    let n = labels.len();
    if n < 2 {
        refuse!("{}: one example cannot be both fitted to and checked", file.path.display());
    }
    let temperatures = match &settings.recalibrate_on {
        None => leading_temperatures(file, &labels, sharing)?,
        Some(path) => {
            let before = before_shift(path, file, &labels)?;
            held(&before, &before.source, before.form, checking.progress)?;
            leading_temperatures(&before, &labels, sharing)?
        }
    };
    let leading = recalibration_rows(n);
    let rest = Rows::new(&file.source, leading..n);
    let tempered = Tempered::new(&rest, file.form, &temperatures);
    let labels = labels[leading..].to_vec();
    let checks = check_members(settings, file, &tempered, Tempered::FORM, labels, checking)?;
    Ok(Checks { temperatures: Some(temperatures), ..checks })
}

/// Temperatures that are best for the mean of the members on the leading examples (Gopal 2021, app. G.1).
fn leading_temperatures(
    file: &Classification,
    labels: &[u32],
    sharing: Sharing,
) -> Result<Vec<f64>, Error> {
    let leading = recalibration_rows(labels.len());
    let first = Rows::new(&file.source, 0..leading);
    joint::fit(&first, file.form, &labels[..leading], sharing).map_err(|why| {
        let (path, why) = (file.path.display(), why.0);
        Error::Unfit(format!("{path}: no temperatures on the leading {leading} examples: {why}"))
    })
}

/// Opens a file, which must be of the same members and examples: else examples that were fitted to would be
/// checked, too.
fn before_shift(
    path: &Path,
    shifted: &Classification,
    shifted_labels: &[u32],
) -> Result<Classification, Error> {
    let Predictions::Classification(file) = open(path)? else {
        refuse!("{}: a regression has no temperatures", path.display());
    };
    let shape = |file: &Classification| {
        let source = &file.source;
        [source.members(), source.examples(), source.width()]
    };
    if shape(&file) != shape(shifted) || labels(&file)? != shifted_labels {
        refuse!(
            "{} and {} do not hold predictions by the same members for the same examples: the examples that \
             temperatures are fitted to must be left out of the check",
            path.display(),
            shifted.path.display()
        );
    }
    Ok(file)
}

/// The members' mean, held in memory: every replicate reads it.
fn held(
    file: &Classification,
    source: &dyn Members,
    form: Form,
    progress: &dyn Progress,
) -> Result<Pooled, Error> {
    progress.start("reading", source.examples());
    pool(source, form, &|rows| progress.advance(rows)).map_err(|fault| at_fault(file, &fault))
}

fn check_members(
    settings: &Settings,
    file: &Classification,
    source: &dyn Members,
    form: Form,
    labels: Vec<u32>,
    checking: &Checking<'_>,
) -> Result<Checks, Error> {
    let costs =
        settings.costs.as_deref().map(|path| read_costs(path, source.width())).transpose()?;
    let mut examples = Examples::new(held(file, source, form, checking.progress)?, labels);
    if let Some(costs) = costs {
        examples = examples.with_costs(costs);
    }
    let scores = classification::scores();
    let checked = check::classification(source, form, &examples, &scores, checking);
    Ok(Checks::new(settings, checking, &checked, source.members(), examples.len()))
}

fn regressed(
    settings: &Settings,
    file: &Regression,
    checking: &Checking<'_>,
) -> Result<Checks, Error> {
    for (flag, given) in [
        ("--recalibrate", settings.recalibrate.is_some()),
        ("--recalibrate-on", settings.recalibrate_on.is_some()),
        ("--costs", settings.costs.is_some()),
    ] {
        if given {
            refuse!("{flag} is for classification, and {} holds a regression", file.path.display());
        }
    }
    let (predictive, members) = match &file.kind {
        RegressionKind::Gaussians(mean, std) => (Predictive::Gaussians(mean, std), mean.members()),
        RegressionKind::Samples(samples) => (Predictive::Samples(samples), samples.members()),
        RegressionKind::Quantiles(..) => refuse!(
            "{}: quantiles do not determine a distribution to draw from; give `mean` and `std`, or `samples`",
            file.path.display()
        ),
    };
    let parts = Parts::of(checking.wanted);
    let outcomes = outcomes(file, checking.options.level, parts)?;
    let scores = regression::scores();
    let checked = check::regression(predictive, &outcomes, &scores, checking);
    Ok(Checks::new(settings, checking, &checked, members, outcomes.len()))
}

impl Checks {
    fn new(
        settings: &Settings,
        checking: &Checking<'_>,
        checked: &[Checked],
        members: usize,
        n: usize,
    ) -> Self {
        let undefined = checked.iter().filter(|checked| checked.observed.is_err());
        Self {
            mode: checking.mode,
            rule: settings.rule,
            replicates: checking.replicates,
            members,
            n,
            temperatures: None,
            statistics: checked.iter().map(|checked| checked.summary(settings.rule)).collect(),
            undefined: undefined.map(|checked| checked.statistic.clone()).collect(),
        }
    }
}
