//! A study of predictions from elsewhere.

use std::path::{Path, PathBuf};

use dubio_metrics::members::Members;
use dubio_metrics::score::Options;
use dubio_metrics::scorecard::Entry;
use dubio_predictions::{Predictions, memory, open_with_level};
use dubio_progress::{Progress, Silent};
use dubio_report::study::{Finished, Outcome, Row, Run, Study};
use dubio_report::view::View;

use super::Settings;
use super::examine::{checks, sweeps};
use super::growth::{Whose, grow};
use super::level::level;
use super::observe::{Observed, observe, uncertainties};
use crate::Error;
use crate::costs::read_costs;
use crate::error::refuse;
use crate::loading::tell;
use crate::names::Selection;
use crate::same::{Truth, same_examples};
use crate::scorecard::Scorecard;
use crate::scores::Extent;

/// Files of one model: what it predicts for each split.
struct Model {
    name: String,
    path: PathBuf,
    splits: Vec<(String, PathBuf)>,
}

impl Model {
    /// Its path; arrays in memory have none, and are known by their name.
    fn id(&self) -> String {
        match memory::is_held(&self.path) {
            true => self.name.clone(),
            false => self.path.display().to_string(),
        }
    }
}

pub(super) fn study_of_files(settings: &Settings, progress: &dyn Progress) -> Result<Study, Error> {
    let models = models(settings)?;
    let level = same_tests(&models, settings, progress)?;
    let mut runs: Vec<Run> = Vec::new();
    progress.start("files", models.len());
    for model in &models {
        let seed = runs.iter().filter(|run| run.method == model.name).count() as u64;
        let several = models.iter().filter(|other| other.name == model.name).count() > 1;
        runs.push(Run {
            id: model.id(),
            data: String::new(),
            network: String::new(),
            method: model.name.clone(),
            seed: several.then_some(seed),
            outcome: Outcome::Finished(Box::new(finished(model, settings, level)?)),
        });
        progress.advance(1);
    }
    let title = match &models[..] {
        [one] => format!("Uncertainty of {}", one.name),
        several => format!("{} models compared", several.len()),
    };
    let files = models.iter().map(|model| (model.id(), model.splits[0].1.clone()));
    let baseline = baseline(settings, &models)?;
    let mut study = Study { title, runs, baseline, level: Some(level), ..Study::default() };
    grow(&mut study, &files.collect(), Whose::Users, progress)?;
    Ok(study)
}

/// Differences are paired, so every model must have been tested on the same examples. Returns the level of the
/// intervals that all of them have.
fn same_tests(
    models: &[Model],
    settings: &Settings,
    progress: &dyn Progress,
) -> Result<f64, Error> {
    let open = |model: &Model| {
        let path = &model.splits[0].1;
        let file = open_with_level(path, settings.level.unwrap_or(Options::default().level))?;
        tell(path, file.notes(), progress);
        Ok(file)
    };
    let files: Vec<Predictions> = models.iter().map(open).collect::<Result<_, Error>>()?;
    let first = Truth::of(&files[0])?;
    files[1..].iter().try_for_each(|file| same_examples(&first, &Truth::of(file)?))?;
    Ok(level(settings.level, &files))
}

/// The deep ensemble, in whose networks the worth of the other methods is counted.
fn baseline(settings: &Settings, models: &[Model]) -> Result<Option<String>, Error> {
    let Some(name) = &settings.baseline else { return Ok(None) };
    if !models.iter().any(|model| model.name == *name) {
        let names: Vec<&str> = models.iter().map(|model| &model.name[..]).collect();
        refuse!("--baseline {name}: the models are {}", names.join(", "));
    }
    Ok(Some(name.clone()))
}

fn models(settings: &Settings) -> Result<Vec<Model>, Error> {
    if !settings.names.is_empty() && settings.names.len() != settings.inputs.len() {
        refuse!("--names gives {} names for {} files", settings.names.len(), settings.inputs.len());
    }
    let model = |(index, path): (usize, &PathBuf)| {
        let stem = path.file_stem().filter(|stem| *stem != "-");
        let stem = stem.map_or("predictions".into(), |stem| stem.to_string_lossy().to_string());
        let name = settings.names.get(index).cloned().unwrap_or(stem);
        Ok(Model { name, path: path.clone(), splits: splits(path)? })
    };
    let mut models: Vec<Model> =
        settings.inputs.iter().enumerate().map(model).collect::<Result<_, Error>>()?;
    if settings.names.is_empty() {
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

/// What a path holds: a file is its test set; a folder may hold files of several splits.
fn splits(path: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    let stdin = path == Path::new("-");
    if !path.exists() && !stdin && !memory::is_held(path) {
        refuse!("{}: there is no such file or folder", path.display());
    }
    let named = |entry: std::io::Result<std::fs::DirEntry>| -> Option<(String, PathBuf)> {
        let path = entry.ok()?.path();
        let known =
            ["npz", "safetensors", "csv", "tsv", "parquet"].contains(&path.extension()?.to_str()?);
        let stem = path.file_stem()?.to_str()?.to_string();
        let split = stem == "test" || stem.starts_with("ood.") || stem.starts_with("shift.");
        (known && split).then_some((stem, path))
    };
    let mut found: Vec<(String, PathBuf)> = match path.is_dir() {
        true => std::fs::read_dir(path)
            .map_err(Error::file(format!("cannot read {}", path.display())))?
            .filter_map(named)
            .collect(),
        false => Vec::new(),
    };
    if found.is_empty() && path.is_dir() && !holds_arrays(path) {
        refuse!(
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
        refuse!("{}: holds {} but no test.npz", path.display(), found[0].1.display());
    }
    Ok(found)
}

/// Whether a folder is a predictions file: one array to a file.
fn holds_arrays(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| path.extension().is_some_and(|e| e == "npy"))
}

fn finished(model: &Model, settings: &Settings, level: f64) -> Result<Finished, Error> {
    let mut finished = Finished::default();
    let mut inside = None;
    for (split, path) in &model.splits {
        if split.starts_with("ood.") {
            let Some((classes, inside)) = &inside else {
                regression_ood(split, path, settings, level, &mut finished)?;
                continue;
            };
            let outside = uncertainties(path, *classes)?;
            finished.views.push(View::ood(split, *classes, inside, &outside));
            let name = split.trim_start_matches("ood.");
            let all = Selection::all();
            let entries =
                card("test", settings, level, &|_| true, &all).ood(name, inside, &outside);
            finished
                .rows
                .extend(entries.into_iter().map(|entry| Row { split: "test".into(), entry }));
            continue;
        }
        let mut observed = observe(path, level)?;
        finished.views.push(observed.view(split));
        if split == "test" {
            finished.members = observed.members();
            finished.checks = checks(split, &observed, settings.resamples);
            finished.sweeps = sweeps(&observed);
            if let Observed::Classes { examples, uncertainties, .. } = &observed {
                inside = Some((examples.classes, uncertainties.clone()));
            }
        }
        let entries = entries(&mut observed, split, settings, level)?;
        finished.rows.extend(entries.into_iter().map(|entry| Row { split: split.clone(), entry }));
    }
    Ok(finished)
}

/// A regression on out-of-distribution inputs, which has targets there too.
fn regression_ood(
    split: &str,
    path: &Path,
    settings: &Settings,
    level: f64,
    finished: &mut Finished,
) -> Result<(), Error> {
    let mut observed = observe(path, level)?;
    finished.views.push(observed.view(split));
    finished.checks.extend(checks(split, &observed, settings.resamples));
    let entries = entries(&mut observed, split, settings, level)?;
    finished.rows.extend(entries.into_iter().map(|entry| Row { split: split.into(), entry }));
    Ok(())
}

fn entries(
    observed: &mut Observed,
    split: &str,
    settings: &Settings,
    level: f64,
) -> Result<Vec<Entry>, Error> {
    let wanted = |name: &str| Extent::Reported.wants(split, name);
    let selection = Selection::all();
    let name = settings.groups.as_deref().filter(|_| split == "test");
    let mut card = card(split, settings, level, &wanted, &selection);
    match observed {
        Observed::Classes { examples, file, .. } => {
            if let Some(path) = &settings.costs {
                let costs = read_costs(path, file.source.width())?;
                **examples = (**examples).clone().with_costs(costs);
            }
            card.groups = name.map(|name| file.groups.need(&file.path, name)).transpose()?;
            Ok(card.classes(examples))
        }
        Observed::Numbers { outcomes, file } => {
            if settings.costs.is_some() {
                refuse!(
                    "--costs is for classification, and {} holds a regression",
                    file.path.display()
                );
            }
            card.groups = name.map(|name| file.groups.need(&file.path, name)).transpose()?;
            Ok(card.numbers(outcomes))
        }
    }
}

/// How a split is scored: only the test set has intervals.
fn card<'a>(
    split: &str,
    settings: &Settings,
    level: f64,
    wanted: &'a (dyn Fn(&str) -> bool + Sync),
    selection: &'a Selection,
) -> Scorecard<'a> {
    Scorecard {
        options: Options { level, ..Options::default() },
        resamples: if split == "test" { settings.resamples } else { 0 },
        seed: 0,
        wanted,
        selection,
        groups: None,
        progress: &Silent,
    }
}
