//! Scores against the number of samples, from prediction files.

use std::path::Path;

use dubio_metrics::dee::{Falling, Point, Subsets, curve};
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Members;
use dubio_metrics::pool::pool;
use dubio_metrics::regression::{Outcomes, Parts};
use dubio_metrics::score::{Options, Undefined};
use dubio_metrics::scorecard::Entry;
use dubio_metrics::views::Chosen;
use dubio_predictions::{Classification, Predictions, Regression, RegressionKind, Source, open};
use dubio_progress::{Progress, Silent};
use dubio_random::stream::Stream;

use super::runs::runs;
use super::{Curve, Settings};
use crate::Error;
use crate::error::refuse;
use crate::loading::{outcomes, pooled};
use crate::names::Selection;
use crate::same::{Truth, same_examples};
use crate::scorecard::Scorecard;

/// What a method predicted.
struct Method {
    name: String,
    files: Files,
    /// Independent runs; the samples of each, as file and member.
    runs: Vec<Vec<(usize, usize)>>,
}

enum Files {
    Classes(Vec<Classification>),
    Numbers(Vec<Regression>),
}

/// The curves of the baseline and of the methods, and the baseline's name.
pub(super) fn curves(
    settings: &Settings,
    progress: &dyn Progress,
) -> Result<(Vec<Curve>, String), Error> {
    if !settings.names.is_empty() && settings.names.len() != settings.methods.len() {
        refuse!("{} names for {} methods", settings.names.len(), settings.methods.len());
    }
    let (path, name) = (Path::new(&settings.baseline), settings.baseline_name.as_ref());
    let mut baseline = Method::open(path, name, progress)?;
    baseline.runs = vec![baseline.runs.concat()]; // every member is a network of its own
    let truth = baseline.truth()?;
    baseline.check(&truth)?;
    let mut methods = vec![baseline];
    for (i, path) in settings.methods.iter().enumerate() {
        let method = Method::open(path, settings.names.get(i), progress)?;
        if methods.iter().any(|other| other.name == method.name) {
            refuse!("two methods are called `{}`; tell them apart with --names", method.name);
        }
        method.check(&truth)?;
        methods.push(method);
    }
    let largest = methods.iter().map(Method::largest).max().unwrap_or(0);
    settings.check_samples(|n| (1..=largest).contains(&n), largest)?;
    let scores = match (&settings.scores[..], &truth) {
        ([], Truth::Labels { .. }) => vec!["calibrated.nll".to_string()],
        ([], Truth::Targets { .. }) => vec!["nll".to_string()],
        (asked, _) => asked.to_vec(),
    };
    Selection::new(&scores)?;
    let mut all = Vec::new();
    for score in &scores {
        for (index, method) in methods.iter().enumerate() {
            // The others are compared with the baseline at any number of samples.
            let whole = index == 0 || settings.falling == Falling::AsPublished;
            let points =
                method.curve(settings, score, |size| whole || settings.wants(size), progress)?;
            let (method, metric) = (method.name.clone(), score.clone());
            all.push(Curve { dataset: None, model: None, method, metric, points });
        }
    }
    Ok((all, methods.swap_remove(0).name))
}

impl Method {
    /// Opens a file, or all files of a folder, and checks every number once.
    fn open(path: &Path, name: Option<&String>, progress: &dyn Progress) -> Result<Self, Error> {
        let (mut classes, mut numbers) = (Vec::new(), Vec::new());
        for run in runs(path)? {
            match open(&run)? {
                Predictions::Classification(file) => classes.push(file),
                Predictions::Regression(file) => numbers.push(file),
            }
        }
        let stem = || path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let name = name.cloned().unwrap_or_else(stem);
        let (files, members): (Files, Vec<usize>) = match (&classes[..], &numbers[..]) {
            ([first, ..], []) => {
                for file in &classes {
                    pooled(file, progress)?;
                    one_form((&file.path, &file.source), (&first.path, &first.source))?;
                }
                let members = classes.iter().map(|file| file.source.members()).collect();
                (Files::Classes(classes), members)
            }
            ([], [first, ..]) => {
                let mut members = Vec::new();
                for file in &numbers {
                    let (source, _) = arrays(file)?;
                    one_form((&file.path, source), (&first.path, arrays(first)?.0))?;
                    outcomes(file, Options::default().level, Parts::default())?;
                    members.push(source.members());
                }
                (Files::Numbers(numbers), members)
            }
            _ => refuse!("{}: classifications and regressions in one folder", path.display()),
        };
        let run = |(file, &count): (usize, &usize)| (0..count).map(|m| (file, m)).collect();
        Ok(Self { name, files, runs: members.iter().enumerate().map(run).collect() })
    }

    fn truth(&self) -> Result<Truth, Error> {
        match &self.files {
            Files::Classes(files) => Truth::of_classes(&files[0]),
            Files::Numbers(files) => Ok(Truth::of_numbers(&files[0])),
        }
    }

    /// Checks that all files are of these examples.
    fn check(&self, truth: &Truth) -> Result<(), Error> {
        match &self.files {
            Files::Classes(files) => {
                for file in files {
                    same_examples(truth, &Truth::of_classes(file)?)?;
                }
            }
            Files::Numbers(files) => {
                for file in files {
                    same_examples(truth, &Truth::of_numbers(file))?;
                }
            }
        }
        Ok(())
    }

    /// Samples of the run that has the most.
    fn largest(&self) -> usize {
        self.runs.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The score by the number of samples, for the numbers that are wanted.
    fn curve(
        &self,
        settings: &Settings,
        score: &str,
        wants: impl Fn(usize) -> bool,
        progress: &dyn Progress,
    ) -> Result<Vec<Point>, Error> {
        let members: Vec<usize> = self.runs.iter().map(Vec::len).collect();
        let sizes: Vec<usize> = (1..=self.largest()).filter(|&size| wants(size)).collect();
        let subsets = Subsets {
            draws: settings.draws,
            stream: Stream::root(settings.seed).child("subsets").child(&self.name),
        };
        progress.start("subsets", members.len() * sizes.len() * subsets.draws);
        let points = curve(&members, &sizes, &subsets, |run, chosen| {
            let chosen: Vec<(usize, usize)> = chosen.iter().map(|&m| self.runs[run][m]).collect();
            let value = self.score(&chosen, score, settings.seed);
            progress.advance(1);
            value.map_err(|why| Undefined(format!("of {} samples: {}", chosen.len(), why.0)))
        });
        points
            .map_err(|why| Error::Unfit(format!("{}: `{score}` has no value {}", self.name, why.0)))
    }

    /// The score of some samples together.
    fn score(&self, chosen: &[(usize, usize)], name: &str, seed: u64) -> Result<f64, Undefined> {
        let wanted = |own: &str| own == name;
        let asked = Selection::of(vec![name.to_string()]);
        let card = Scorecard {
            options: Options::default(),
            resamples: 0,
            seed,
            wanted: &wanted,
            selection: &asked,
            groups: None,
            progress: &Silent,
        };
        let entries = match &self.files {
            Files::Classes(files) => {
                let members = chosen.iter().map(|&(f, m)| (&files[f].source as &dyn Members, m));
                let pooled = pool(&Chosen::new(members), files[0].form, &|_| ());
                let pooled = pooled.map_err(|fault| Undefined(fault.to_string()))?;
                let labels = files[0].labels.clone().unwrap_or_default();
                card.classes(&mut Examples::new(pooled, labels))
            }
            Files::Numbers(files) => {
                card.numbers(&some_outcomes(files, chosen, card.options.level, card.parts())?)
            }
        };
        let value = |entry: Entry| entry.value;
        entries
            .into_iter()
            .next()
            .map_or(Err(Undefined::because("not of these predictions")), value)
    }
}

/// Checks that two files of a method hold the same kind of numbers.
fn one_form(
    (path, source): (&Path, &Source),
    (first, other): (&Path, &Source),
) -> Result<(), Error> {
    if source.name == other.name {
        return Ok(());
    }
    refuse!(
        "{} holds `{}`, but {} `{}`; write all runs of a method in one form",
        path.display(),
        source.name,
        first.display(),
        other.name
    )
}

/// The outcomes of some members of some files.
fn some_outcomes(
    files: &[Regression],
    chosen: &[(usize, usize)],
    level: f64,
    parts: Parts,
) -> Result<Outcomes, Undefined> {
    let arrays: Vec<(&Source, Option<&Source>)> = files.iter().flat_map(arrays).collect();
    let means = Chosen::new(chosen.iter().map(|&(f, m)| (arrays[f].0 as &dyn Members, m)));
    let stds = chosen.iter().filter_map(|&(f, m)| Some((arrays[f].1? as &dyn Members, m)));
    let targets = files[0].targets.clone();
    let outcomes = match arrays[0].1 {
        Some(_) => Outcomes::gaussians(&means, &Chosen::new(stds), targets, level, parts),
        None => Outcomes::samples(&means, targets, level),
    };
    outcomes.map_err(|bad| Undefined(bad.to_string()))
}

/// Means and standard deviations, or draws.
fn arrays(file: &Regression) -> Result<(&Source, Option<&Source>), Error> {
    match &file.kind {
        RegressionKind::Gaussians(mean, std) => Ok((mean, Some(std))),
        RegressionKind::Samples(samples) => Ok((samples, None)),
        RegressionKind::Quantiles(..) => {
            refuse!("{}: quantiles have no members to choose from", file.path.display())
        }
    }
}
