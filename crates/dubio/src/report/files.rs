//! A study of predictions from elsewhere.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dubio_metrics::given::possible;
use dubio_metrics::members::Members;
use dubio_metrics::score::Options;
use dubio_metrics::scorecard::{self, Progress, Scoring, Silent};
use dubio_metrics::{classification, regression};
use dubio_predictions::open;
use dubio_random::stream::Stream;
use dubio_report::study::{Finished, Outcome, Row, Run, Study};
use dubio_report::view::View;

use super::Args;
use super::examine::{checks, examine};
use super::growth::grow;
use super::observe::{Observed, bootstrap, observe, uncertainties, worth};
use crate::costs::read_costs;
use crate::evaluate::grouping;
use crate::progress::Bar;
use crate::same::{Truth, same_examples};

/// Files of one model: what it predicts for each split.
struct Model {
    name: String,
    path: PathBuf,
    splits: Vec<(String, PathBuf)>,
}

pub(super) fn study_of_files(args: &Args) -> Result<Study> {
    let models = models(args)?;
    same_tests(&models)?;
    let mut runs: Vec<Run> = Vec::new();
    let bar = Bar::new();
    bar.start("files", models.len());
    for model in &models {
        let seed = runs.iter().filter(|run| run.method == model.name).count() as u64;
        let several = models.iter().filter(|other| other.name == model.name).count() > 1;
        runs.push(Run {
            id: model.path.display().to_string(),
            data: String::new(),
            network: String::new(),
            method: model.name.clone(),
            seed: several.then_some(seed),
            outcome: Outcome::Finished(Box::new(finished(model, args)?)),
        });
        bar.advance(1);
    }
    let title = match &models[..] {
        [one] => format!("What {} knows that it does not know", one.name),
        several => format!("{} models compared", several.len()),
    };
    let files =
        models.iter().map(|model| (model.path.display().to_string(), model.splits[0].1.clone()));
    let baseline = baseline(args, &models)?;
    let mut study = Study { title, runs, baseline, ..Study::default() };
    grow(&mut study, &files.collect(), &bar)?;
    Ok(study)
}

/// Differences are paired, so every model must have been tested on the same examples.
fn same_tests(models: &[Model]) -> Result<()> {
    let truth = |model: &Model| Truth::of(&open(&model.splits[0].1)?);
    let first = truth(&models[0])?;
    models[1..].iter().try_for_each(|model| same_examples(&first, &truth(model)?))
}

/// The method that the others are worth so many networks of.
fn baseline(args: &Args, models: &[Model]) -> Result<Option<String>> {
    let Some(name) = &args.baseline else { return Ok(None) };
    if !models.iter().any(|model| model.name == *name) {
        let names: Vec<&str> = models.iter().map(|model| &model.name[..]).collect();
        bail!("--baseline {name}: the models are {}", names.join(", "));
    }
    Ok(Some(name.clone()))
}

fn models(args: &Args) -> Result<Vec<Model>> {
    if !args.names.is_empty() && args.names.len() != args.inputs.len() {
        bail!("--names gives {} names for {} files", args.names.len(), args.inputs.len());
    }
    let model = |(index, path): (usize, &PathBuf)| {
        let stem = path
            .file_stem()
            .map_or("predictions".into(), |stem| stem.to_string_lossy().to_string());
        let name = args.names.get(index).cloned().unwrap_or(stem);
        Ok(Model { name, path: path.clone(), splits: splits(path)? })
    };
    let mut models: Vec<Model> =
        args.inputs.iter().enumerate().map(model).collect::<Result<_>>()?;
    if args.names.is_empty() {
        tell_apart(&mut models);
    }
    Ok(models)
}

/// Files of the same name in different folders are different models: they get their whole paths.
fn tell_apart(models: &mut [Model]) {
    let names: Vec<String> = models.iter().map(|model| model.name.clone()).collect();
    for model in models {
        if names.iter().filter(|name| **name == model.name).count() > 1 {
            model.name = model.path.with_extension("").display().to_string();
        }
    }
}

/// What a path holds: a file is its test part; a folder may hold files of several splits.
fn splits(path: &Path) -> Result<Vec<(String, PathBuf)>> {
    if !path.exists() {
        bail!("{}: there is no such file or folder", path.display());
    }
    let named = |entry: std::io::Result<std::fs::DirEntry>| -> Option<(String, PathBuf)> {
        let path = entry.ok()?.path();
        let known = ["npz", "safetensors"].contains(&path.extension()?.to_str()?);
        let stem = path.file_stem()?.to_str()?.to_string();
        let split = stem == "test" || stem.starts_with("ood.") || stem.starts_with("shift.");
        (known && split).then_some((stem, path))
    };
    let mut found: Vec<(String, PathBuf)> = match path.is_dir() {
        true => std::fs::read_dir(path)
            .with_context(|| format!("cannot read {}", path.display()))?
            .filter_map(named)
            .collect(),
        false => Vec::new(),
    };
    if found.is_empty() && path.is_dir() && !holds_arrays(path) {
        bail!(
            "{}: holds no runs (ID/record.json), no test.npz and no arrays (.npy); `dubio run quick` makes \
             runs, and `dubio report FILE` takes predictions from elsewhere",
            path.display()
        );
    }
    if found.is_empty() {
        return Ok(vec![("test".to_string(), path.to_path_buf())]);
    }
    found.sort_by(|a, b| (a.0 != "test", &a.0).cmp(&(b.0 != "test", &b.0)));
    if found[0].0 != "test" {
        bail!("{}: holds {} but no test.npz", path.display(), found[0].1.display());
    }
    Ok(found)
}

/// Whether a folder is a predictions file: one array to a file.
fn holds_arrays(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| path.extension().is_some_and(|e| e == "npy"))
}

fn finished(model: &Model, args: &Args) -> Result<Finished> {
    let mut finished = Finished::default();
    let mut inside = None;
    for (split, path) in &model.splits {
        if split.starts_with("ood.") {
            let Some((classes, inside)) = &inside else {
                elsewhere(split, path, args, &mut finished)?;
                continue;
            };
            let outside = uncertainties(path, *classes)?;
            finished.views.push(View::foreign(split, *classes, inside, &outside));
            let name = split.trim_start_matches("ood.");
            let scoring = scoring("test", args, &|_| true);
            let entries = scorecard::ood(name, inside, &outside, &scoring);
            finished
                .rows
                .extend(entries.into_iter().map(|entry| Row { split: "test".into(), entry }));
            continue;
        }
        let mut observed = observe(path)?;
        finished.views.push(observed.view(split));
        if split == "test" {
            finished.members = observed.members();
            examine(&observed, args.resamples as usize, &mut finished);
            if let Observed::Classes { examples, uncertainties, .. } = &observed {
                inside = Some((examples.classes, uncertainties.clone()));
            }
        }
        let entries = entries(&mut observed, split, args)?;
        finished.rows.extend(entries.into_iter().map(|entry| Row { split: split.clone(), entry }));
    }
    Ok(finished)
}

/// A regression on inputs from elsewhere, which has targets there too.
fn elsewhere(split: &str, path: &Path, args: &Args, finished: &mut Finished) -> Result<()> {
    let mut observed = observe(path)?;
    finished.views.push(observed.view(split));
    finished.checks.extend(checks(split, &observed, args.resamples as usize));
    let entries = entries(&mut observed, split, args)?;
    finished.rows.extend(entries.into_iter().map(|entry| Row { split: split.into(), entry }));
    Ok(())
}

fn scoring<'a>(split: &str, args: &Args, wanted: &'a (dyn Fn(&str) -> bool + Sync)) -> Scoring<'a> {
    Scoring {
        options: Options::default(),
        bootstrap: (split == "test").then(|| bootstrap(args.resamples as usize)),
        splits: Stream::root(0).child("calibrated"),
        wanted,
        progress: &Silent,
    }
}

fn entries(observed: &mut Observed, split: &str, args: &Args) -> Result<Vec<scorecard::Entry>> {
    let wanted = |name: &str| worth(split, name);
    let scoring = scoring(split, args, &wanted);
    match observed {
        Observed::Classes { examples, file, .. } => {
            if let Some(path) = &args.costs {
                let costs = read_costs(path, file.source.width())?;
                **examples = (**examples).clone().with_costs(costs);
            }
            let scores = possible(classification::scores(), &**examples, |_| false);
            let mut entries = scorecard::plain(&**examples, &scores, &scoring);
            entries.extend(scorecard::calibrated(examples, &scores, &scoring));
            if let (Some(name), "test") = (&args.groups, split) {
                let groups = grouping(&file.path, &file.groups, name)?;
                entries.extend(scorecard::grouped(&**examples, &scores, groups, &scoring));
            }
            Ok(entries)
        }
        Observed::Numbers { outcomes, file } => {
            if args.costs.is_some() {
                bail!(
                    "--costs is for classification, and {} holds a regression",
                    file.path.display()
                );
            }
            let scores = possible(regression::scores(), &**outcomes, |_| false);
            let mut entries = scorecard::plain(&**outcomes, &scores, &scoring);
            if let (Some(name), "test") = (&args.groups, split) {
                let groups = grouping(&file.path, &file.groups, name)?;
                entries.extend(scorecard::grouped(&**outcomes, &scores, groups, &scoring));
            }
            Ok(entries)
        }
    }
}
