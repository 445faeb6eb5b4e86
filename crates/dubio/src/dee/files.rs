//! Scores against the number of samples, from prediction files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use dubio_metrics::dee::{Point, Subsets, curve};
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Members;
use dubio_metrics::pool::pool;
use dubio_metrics::regression::Outcomes;
use dubio_metrics::score::{Options, Undefined};
use dubio_metrics::scorecard::{self, Entry, Progress, Scoring, Silent};
use dubio_metrics::views::Chosen;
use dubio_metrics::{classification, regression};
use dubio_predictions::{Classification, Predictions, Regression, RegressionKind, Source, open};
use dubio_random::stream::Stream;

use super::{Args, Curve};
use crate::progress::Bar;
use dubio_api::loading::{outcomes, pooled};
use dubio_api::names::Selection;
use dubio_api::same::{Truth, same_examples};

/// What a method predicted.
struct Method {
    name: String,
    files: Files,
    /// Independent runs; of each, its samples as file and member.
    runs: Vec<Vec<(usize, usize)>>,
}

enum Files {
    Classes(Vec<Classification>),
    Numbers(Vec<Regression>),
}

/// The curves of the baseline and of the methods, and the baseline's name.
pub(super) fn curves(args: &Args) -> Result<(Vec<Curve>, String)> {
    if !args.names.is_empty() && args.names.len() != args.methods.len() {
        bail!("{} names for {} methods", args.names.len(), args.methods.len());
    }
    let progress = Bar::new();
    let mut baseline = Method::open(Path::new(&args.baseline), None, &progress)?;
    baseline.runs = vec![baseline.runs.concat()]; // every member is a network of its own
    let truth = baseline.truth()?;
    baseline.check(&truth)?;
    let mut methods = vec![baseline];
    for (i, path) in args.methods.iter().enumerate() {
        let method = Method::open(path, args.names.get(i), &progress)?;
        if methods.iter().any(|other| other.name == method.name) {
            bail!("two methods are called `{}`; tell them apart with --names", method.name);
        }
        method.check(&truth)?;
        methods.push(method);
    }
    let largest = methods.iter().map(Method::largest).max().unwrap_or(0);
    args.check_samples(|n| (1..=largest).contains(&n), largest)?;
    let scores = match (&args.score[..], &truth) {
        ([], Truth::Labels { .. }) => vec!["calibrated.nll".to_string()],
        ([], Truth::Targets { .. }) => vec!["nll".to_string()],
        (asked, _) => asked.to_vec(),
    };
    Selection::new(&scores)?;
    let mut all = Vec::new();
    for score in &scores {
        for (index, method) in methods.iter().enumerate() {
            // Those of the baseline are what others are held against.
            let whole = index == 0 || args.as_published;
            let points = method.curve(args, score, |size| whole || args.wants(size), &progress)?;
            let (method, metric) = (method.name.clone(), score.clone());
            all.push(Curve { dataset: None, model: None, method, metric, points });
        }
    }
    Ok((all, methods.swap_remove(0).name))
}

impl Method {
    /// Opens a file, or all files of a folder, and looks at every number once.
    fn open(path: &Path, name: Option<&String>, progress: &dyn Progress) -> Result<Self> {
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
                    outcomes(file, Options::default().level)?;
                    members.push(source.members());
                }
                (Files::Numbers(numbers), members)
            }
            _ => bail!("{}: classifications and regressions in one folder", path.display()),
        };
        let run = |(file, &count): (usize, &usize)| (0..count).map(|m| (file, m)).collect();
        Ok(Self { name, files, runs: members.iter().enumerate().map(run).collect() })
    }

    fn truth(&self) -> Result<Truth> {
        match &self.files {
            Files::Classes(files) => Ok(Truth::of_classes(&files[0])?),
            Files::Numbers(files) => Ok(Truth::of_numbers(&files[0])),
        }
    }

    /// That all files are of these examples.
    fn check(&self, truth: &Truth) -> Result<()> {
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

    /// Samples of the run that has most.
    fn largest(&self) -> usize {
        self.runs.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The score by the number of samples, for the numbers that are wanted.
    fn curve(
        &self,
        args: &Args,
        score: &str,
        wants: impl Fn(usize) -> bool,
        progress: &dyn Progress,
    ) -> Result<Vec<Point>> {
        let members: Vec<usize> = self.runs.iter().map(Vec::len).collect();
        let sizes: Vec<usize> = (1..=self.largest()).filter(|&size| wants(size)).collect();
        let subsets = Subsets {
            draws: args.draws.into(),
            stream: Stream::root(args.seed).child("subsets").child(&self.name),
        };
        progress.start("subsets", members.len() * sizes.len() * subsets.draws);
        let points = curve(&members, &sizes, &subsets, |run, chosen| {
            let chosen: Vec<(usize, usize)> = chosen.iter().map(|&m| self.runs[run][m]).collect();
            let value = self.score(&chosen, score, args.seed);
            progress.advance(1);
            value.map_err(|why| Undefined(format!("of {} samples: {}", chosen.len(), why.0)))
        });
        points.map_err(|why| anyhow!("{}: `{score}` has no value {}", self.name, why.0))
    }

    /// The score of some samples together.
    fn score(&self, chosen: &[(usize, usize)], name: &str, seed: u64) -> Result<f64, Undefined> {
        let wanted = |own: &str| own == name;
        let scoring = Scoring {
            options: Options::default(),
            bootstrap: None,
            splits: Stream::root(seed).child("calibrated"),
            wanted: &wanted,
            progress: &Silent,
        };
        let entries = match &self.files {
            Files::Classes(files) => {
                let members = chosen.iter().map(|&(f, m)| (&files[f].source as &dyn Members, m));
                let pooled = pool(&Chosen::new(members), files[0].form, &|_| ());
                let pooled = pooled.map_err(|fault| Undefined(fault.to_string()))?;
                let examples = Examples::new(pooled, files[0].labels.clone().unwrap_or_default());
                let scores = classification::scores();
                let mut entries = scorecard::plain(&examples, &scores, &scoring);
                entries.extend(scorecard::calibrated(&examples, &scores, &scoring));
                entries
            }
            Files::Numbers(files) => {
                let outcomes = some_outcomes(files, chosen, scoring.options.level)?;
                scorecard::plain(&outcomes, &regression::scores(), &scoring)
            }
        };
        let value = |entry: Entry| entry.value;
        entries
            .into_iter()
            .next()
            .map_or(Err(Undefined::because("not of these predictions")), value)
    }
}

/// That two files of a method hold the same kind of numbers.
fn one_form((path, source): (&Path, &Source), (first, other): (&Path, &Source)) -> Result<()> {
    if source.name == other.name {
        return Ok(());
    }
    bail!(
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
) -> Result<Outcomes, Undefined> {
    let arrays: Vec<(&Source, Option<&Source>)> = files.iter().flat_map(arrays).collect();
    let means = Chosen::new(chosen.iter().map(|&(f, m)| (arrays[f].0 as &dyn Members, m)));
    let stds = chosen.iter().filter_map(|&(f, m)| Some((arrays[f].1? as &dyn Members, m)));
    let targets = files[0].targets.clone();
    let outcomes = match arrays[0].1 {
        Some(_) => Outcomes::gaussians(&means, &Chosen::new(stds), targets, level),
        None => Outcomes::samples(&means, targets, level),
    };
    outcomes.map_err(|bad| Undefined(bad.to_string()))
}

/// Means and deviations, or draws.
fn arrays(file: &Regression) -> Result<(&Source, Option<&Source>)> {
    match &file.kind {
        RegressionKind::Gaussians(mean, std) => Ok((mean, Some(std))),
        RegressionKind::Samples(samples) => Ok((samples, None)),
        RegressionKind::Quantiles(..) => {
            bail!("{}: quantiles have no members to choose from", file.path.display())
        }
    }
}

/// A predictions file is one run; in a folder, every file is.
fn runs(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let failed = || format!("cannot read {}", path.display());
    let listed = std::fs::read_dir(path).with_context(failed)?;
    let mut inside: Vec<PathBuf> = listed.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    let kind = |file: &Path| file.extension().and_then(|e| e.to_str()).map(str::to_string);
    if inside.iter().any(|file| kind(file).as_deref() == Some("npy")) {
        return Ok(vec![path.to_path_buf()]);
    }
    inside.retain(|file| {
        file.is_dir() || matches!(kind(file).as_deref(), Some("npz" | "safetensors"))
    });
    inside.sort();
    if inside.is_empty() {
        bail!("{}: there is no predictions file in this folder", path.display());
    }
    Ok(inside)
}
