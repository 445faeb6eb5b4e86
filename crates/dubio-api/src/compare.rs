//! `compare`: several methods on the same examples.

use std::path::PathBuf;

use dubio_metrics::bootstrap::Bootstrap;
use dubio_metrics::compare::{
    Comparison, Contestant, Correlation, Scored, classifiers, forbidden, regressions,
};
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Members;
use dubio_metrics::pool::pool;
use dubio_metrics::regression::{Outcomes, Parts};
use dubio_metrics::score::Options;
use dubio_metrics::scorecard::Scoring;
use dubio_metrics::views::Chosen;
use dubio_predictions::{Classification, Predictions, Regression, RegressionKind, open};
use dubio_progress::Progress;
use dubio_random::stream::Stream;
use serde::Deserialize;

use crate::Error;
use crate::error::{guard_in_pool, refuse};
use crate::loading::{at_fault, labels, note_crossings, outcomes, pooled, tell};
use crate::names::Selection;
use crate::range::{BINS, RESAMPLES, within};
use crate::same::{Truth, same_examples};

/// What to compare, and by which scores.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The predictions, two files or more, of the same examples in the same order.
    pub files: Vec<PathBuf>,
    /// Names of the methods, in the order of the files; those of the files where it is empty.
    pub names: Vec<String>,
    /// The score to rank by; when left out, the first of `calibrated.nll` and `brier` that every file has; for a
    /// regression, the first of `nll`, `crps`, `pinball`, `interval_score` and `mae`.
    pub score: Option<String>,
    /// Further scores to compare, by name, family or pattern; some of each kind where it is empty.
    pub scores: Vec<String>,
    /// Use only this many members of every file, the first ones.
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

const CLASSIFICATION: [&str; 8] =
    ["accuracy", "nll", "brier", "ece", "uce", "aurc", "calibrated.nll", "calibrated.brier"];
const REGRESSION: [&str; 5] = ["rmse", "nll", "crps", "qce", "picp"];
/// Scores to rank classifiers by, the best first: the likelihood at the best temperature, and where that is not
/// defined a proper score that always is.
const OF_CLASSES: [&str; 2] = ["calibrated.nll", "brier"];
/// Scores to rank regressions by, the best first. Draws have no density; quantiles have neither that nor a CRPS.
const OF_NUMBERS: [&str; 5] = ["nll", "crps", "pinball", "interval_score", "mae"];

/// Compares methods on the same examples.
pub fn compare(settings: &Settings, progress: &dyn Progress) -> Result<Comparison, Error> {
    guard_in_pool(|| comparison(settings, progress))
}

fn comparison(settings: &Settings, progress: &dyn Progress) -> Result<Comparison, Error> {
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
    let headlines = headlines(settings, classes, &files);
    if let Some(caution) = forbidden(headlines[0]).filter(|_| classes) {
        refuse!(
            "{} is refused: {}; {} ({})",
            caution.what,
            caution.why,
            caution.instead,
            caution.reference
        );
    }
    let default: &[&str] = if classes { &CLASSIFICATION } else { &REGRESSION };
    let named = if settings.scores.is_empty() { default } else { &[] };
    let named = named.iter().chain(&headlines).map(|name| name.to_string());
    let asked: Vec<String> = settings.scores.iter().cloned().chain(named).collect();
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
    let mut comparison = compared(settings, files, names, &headlines, &scoring, progress)?;
    let there: Vec<&str> = comparison.scores.iter().map(|scored| &scored.score[..]).collect();
    let missing = selection.missing(&there);
    if let Some(name) = missing.iter().find(|name| forbidden(name).is_none()) {
        refuse!(
            "`{name}` is not a score of these files; `dubio list scores` shows which there are"
        );
    }
    comparison.cautions.extend(missing.iter().filter_map(|name| forbidden(name)));
    keep_asked(&mut comparison, &settings.scores, default)?;
    Ok(comparison)
}

/// Leaves out scores that nobody asked for by name if no file has them, or if they were only candidates to rank
/// by and another one ranks.
fn keep_asked(
    comparison: &mut Comparison,
    asked: &[String],
    default: &[&str],
) -> Result<(), Error> {
    let by_name = Selection::new(asked)?;
    let shown = |scored: &Scored| {
        let ordinary = asked.is_empty() && default.contains(&&scored.score[..]);
        let valued = scored.values.iter().any(Option::is_some);
        scored.score == comparison.headline
            || (!asked.is_empty() && by_name.wants(&scored.score))
            || (ordinary && valued)
    };
    comparison.scores.retain(shown);
    let kept: Vec<&str> = comparison.scores.iter().map(|scored| &scored.score[..]).collect();
    comparison.differences.retain(|difference| kept.contains(&&difference.score[..]));
    let both = |c: &Correlation| kept.contains(&&c.a[..]) && kept.contains(&&c.b[..]);
    comparison.correlations.retain(both);
    Ok(())
}

/// The scores to rank by, the best first. Pinball losses at different levels cannot be compared.
fn headlines<'s>(settings: &'s Settings, classes: bool, files: &[Predictions]) -> Vec<&'s str> {
    if let Some(score) = &settings.score {
        return vec![score];
    }
    let levels = |file: &Predictions| match file {
        Predictions::Regression(Regression {
            kind: RegressionKind::Quantiles(levels, _), ..
        }) => Some(levels.clone()),
        _ => None,
    };
    let first = files.first().and_then(levels);
    let same = files.iter().all(|file| levels(file) == first);
    match classes {
        true => OF_CLASSES.to_vec(),
        false => OF_NUMBERS.into_iter().filter(|score| same || *score != "pinball").collect(),
    }
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
    headlines: &[&str],
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
        [] => classifiers(&mut classes, headlines, scoring),
        _ => regressions(&numbers, headlines, scoring),
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
    tell(&file.path, &file.notes, progress);
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
    tell(&file.path, &file.notes, progress);
    let there = match &file.kind {
        RegressionKind::Gaussians(source, _) | RegressionKind::Samples(source) => source.members(),
        RegressionKind::Quantiles(..) => 1,
    };
    let members = settings.used(&file.path, there)?;
    if members == there {
        let outcomes = outcomes(file, level, Parts::ALL)?;
        note_crossings(&file.path, &outcomes, progress);
        return Ok((members, outcomes));
    }
    outcomes(file, level, Parts::default())?; // so that faults are reported with their place
    let targets = file.targets.clone();
    let some = match &file.kind {
        RegressionKind::Gaussians(mean, std) => {
            let (mean, std) = (Chosen::of(mean, 0..members), Chosen::of(std, 0..members));
            Outcomes::gaussians(&mean, &std, targets, level, Parts::ALL)
        }
        RegressionKind::Samples(samples) => {
            Outcomes::samples(&Chosen::of(samples, 0..members), targets, level)
        }
        RegressionKind::Quantiles(..) => return Ok((members, outcomes(file, level, Parts::ALL)?)),
    };
    Ok((members, some.map_err(|bad| Error::Unfit(bad.to_string()))?))
}
