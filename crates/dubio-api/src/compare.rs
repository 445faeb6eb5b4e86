//! `compare`: several methods on the same examples.

use std::path::PathBuf;

use dubio_metrics::bootstrap::Bootstrap;
use dubio_metrics::compare::{Comparison, Contestant, classifiers, forbidden, regressions};
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Members;
use dubio_metrics::pool::pool;
use dubio_metrics::regression::Outcomes;
use dubio_metrics::score::Options;
use dubio_metrics::scorecard::Scoring;
use dubio_metrics::views::Chosen;
use dubio_predictions::{Classification, Predictions, Regression, RegressionKind, open};
use dubio_progress::Progress;
use dubio_random::stream::Stream;
use serde::Serialize;

use crate::Error;
use crate::error::{guard, refuse};
use crate::loading::{at_fault, labels, note_ignored, outcomes, pooled};
use crate::names::Selection;
use crate::range::{BINS, RESAMPLES, within};
use crate::same::{Truth, same_examples};

/// What to compare, and by what.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The predictions, two files or more, of the same examples in the same order.
    pub files: Vec<PathBuf>,
    /// Names of the methods, in the order of the files; those of the files where it is empty.
    pub names: Vec<String>,
    /// The score to rank by: `calibrated.nll` when left out, `nll` for a regression.
    pub score: Option<String>,
    /// Further scores to compare, by name, family or pattern; some of each kind where it is empty.
    pub scores: Vec<String>,
    /// Use only the first so many members of every file.
    pub members: Option<usize>,
    /// Number of bins of every binned score.
    pub bins: usize,
    /// Resamples behind the 95 % intervals.
    pub resamples: usize,
    /// Seed of the resamples and of the cross-validation's splits.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            names: Vec::new(),
            score: None,
            scores: Vec::new(),
            members: None,
            bins: Options::default().bins,
            resamples: 1000,
            seed: 0,
        }
    }
}

/// What a comparison found.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The score to rank by.
    pub headline: String,
    /// Ranking, scores, differences and cautions.
    pub comparison: Comparison,
}

const CLASSIFICATION: [&str; 8] =
    ["accuracy", "nll", "brier", "ece", "uce", "aurc", "calibrated.nll", "calibrated.brier"];
const REGRESSION: [&str; 5] = ["rmse", "nll", "crps", "qce", "picp"];

/// Compares methods on the same examples.
pub fn compare(settings: &Settings, progress: &dyn Progress) -> Result<Compared, Error> {
    guard(|| comparison(settings, progress))
}

fn comparison(settings: &Settings, progress: &dyn Progress) -> Result<Compared, Error> {
    within("bins", settings.bins, BINS)?;
    within("resamples", settings.resamples, RESAMPLES)?;
    if settings.members == Some(0) {
        refuse!("members must be at least 1, got 0");
    }
    let names = names(settings)?;
    let files: Vec<Predictions> =
        settings.files.iter().map(|path| open(path)).collect::<Result<_, _>>()?;
    let [first, others @ ..] = &files[..] else { refuse!("name two predictions files or more") };
    let truth = Truth::of(first)?;
    for file in others {
        same_examples(&truth, &Truth::of(file)?)?;
    }
    let classes = matches!(truth, Truth::Labels { .. });
    let ordinary = if classes { "calibrated.nll" } else { "nll" };
    let headline = settings.score.as_deref().unwrap_or(ordinary);
    if let Some(caution) = forbidden(headline).filter(|_| classes) {
        refuse!(
            "{} is refused: {}; {} ({})",
            caution.what,
            caution.why,
            caution.instead,
            caution.reference
        );
    }
    let mut asked: Vec<String> = settings.scores.clone();
    if asked.is_empty() {
        let default: &[&str] = if classes { &CLASSIFICATION } else { &REGRESSION };
        asked.extend(default.iter().map(|name| name.to_string()));
    }
    asked.push(headline.to_string());
    let selection = Selection::new(&asked)?;
    let wanted = |name: &str| selection.wants(name);
    let root = Stream::root(settings.seed);
    let scoring = Scoring {
        options: Options { bins: settings.bins, ..Options::default() },
        bootstrap: Some(Bootstrap {
            resamples: settings.resamples,
            stream: root.child("bootstrap"),
        }),
        splits: root.child("calibrated"),
        wanted: &wanted,
        progress,
    };
    let mut comparison = compared(settings, files, names, headline, &scoring, progress)?;
    let there: Vec<&str> = comparison.scores.iter().map(|scored| &scored.score[..]).collect();
    let missing = selection.missing(&there);
    if let Some(name) = missing.iter().find(|name| forbidden(name).is_none()) {
        refuse!(
            "`{name}` is not a score of these files; `dubio list scores` shows which there are"
        );
    }
    comparison.cautions.extend(missing.iter().filter_map(|name| forbidden(name)));
    Ok(Compared { headline: headline.to_string(), comparison })
}

fn names(settings: &Settings) -> Result<Vec<String>, Error> {
    if !settings.names.is_empty() && settings.names.len() != settings.files.len() {
        refuse!("{} names for {} files", settings.names.len(), settings.files.len());
    }
    let stem = |path: &PathBuf| {
        path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    };
    let names: Vec<String> = match settings.names.is_empty() {
        true => settings.files.iter().map(stem).collect(),
        false => settings.names.clone(),
    };
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            refuse!("two methods are called `{name}`; tell them apart with --names");
        }
    }
    Ok(names)
}

fn compared(
    settings: &Settings,
    files: Vec<Predictions>,
    names: Vec<String>,
    headline: &str,
    scoring: &Scoring<'_>,
    progress: &dyn Progress,
) -> Result<Comparison, Error> {
    let (mut classes, mut numbers) = (Vec::new(), Vec::new());
    for (file, name) in files.into_iter().zip(names) {
        match file {
            Predictions::Classification(file) => {
                let (members, examples) = classified(settings, &file, progress)?;
                classes.push(Contestant { name, members, examples });
            }
            Predictions::Regression(file) => {
                let (members, examples) =
                    regressed(settings, &file, scoring.options.level, progress)?;
                numbers.push(Contestant { name, members, examples });
            }
        }
    }
    Ok(match numbers[..] {
        [] => classifiers(&mut classes, headline, scoring),
        _ => regressions(&numbers, headline, scoring),
    })
}

impl Settings {
    /// How many of a file's members are used; says when there are too few.
    fn used(&self, path: &std::path::Path, there: usize) -> Result<usize, Error> {
        let wanted = self.members.unwrap_or(there);
        if wanted > there {
            refuse!("{}: {there} members, but --members asks for {wanted}", path.display());
        }
        Ok(wanted)
    }
}

fn classified(
    settings: &Settings,
    file: &Classification,
    progress: &dyn Progress,
) -> Result<(usize, Examples), Error> {
    note_ignored(&file.path, &file.ignored, progress);
    let there = file.source.members();
    let members = settings.used(&file.path, there)?;
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

fn regressed(
    settings: &Settings,
    file: &Regression,
    level: f64,
    progress: &dyn Progress,
) -> Result<(usize, Outcomes), Error> {
    note_ignored(&file.path, &file.ignored, progress);
    let there = match &file.kind {
        RegressionKind::Gaussians(source, _) | RegressionKind::Samples(source) => source.members(),
        RegressionKind::Quantiles(..) => 1,
    };
    let members = settings.used(&file.path, there)?;
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
    Ok((members, some.map_err(|bad| Error::Unfit(bad.to_string()))?))
}
