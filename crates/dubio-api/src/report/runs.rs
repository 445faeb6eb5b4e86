//! A study of a folder of runs.

use std::collections::BTreeSet;
use std::path::Path;

use dubio_bench::evaluation::Evaluation;
use dubio_bench::plan::{PlannedRun, Settings};
use dubio_bench::store::{Failure, Record, Store};
use dubio_bench::study::Study as Planned;
use dubio_progress::Progress;
use dubio_report::chapter::family;
use dubio_report::study::{Cost, Finished, Outcome, Row, Run, Study, Warning};

use super::growth::{Whose, grow};
use super::looks::looks;
use crate::Error;
use crate::error::refuse;
use crate::scores::{Asked, Extent, Row as Scored, asked, scores};

/// Whether a folder holds runs, finished or failed.
pub(super) fn is_store(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    let finished = |path: &Path| path.join("record.json").is_file();
    let of_runs = |path: &Path| path.ends_with(".failed") || path.ends_with(".studies");
    entries.flatten().map(|entry| entry.path()).any(|path| finished(&path) || of_runs(&path))
}

/// The study of a folder: the one that is named, or the only one there is; all runs where no suite
/// says what belongs together.
pub(super) fn study_of_folder(
    folder: &Path,
    name: Option<&str>,
    resamples: usize,
    progress: &dyn Progress,
) -> Result<Study, Error> {
    let store = Store::new(folder);
    let mut studies = Planned::all(&store)?;
    let names: Vec<String> = studies.iter().map(|study| study.name.to_string()).collect();
    if let Some(name) = name {
        studies.retain(|study| *study.name == *name);
    }
    match (&studies[..], name) {
        ([one], _) => study_of_plan(one, &store, resamples, progress),
        ([], None) => study_of_all(folder, &store, resamples, progress),
        ([], Some(name)) => {
            refuse!(
                "{}: no study is called {name}; there are {}",
                folder.display(),
                names.join(", ")
            )
        }
        _ => refuse!(
            "{}: runs of several studies; choose one with --study: {}",
            folder.display(),
            names.join(", ")
        ),
    }
}

/// The runs of a suite, whether they are there or not, in its order.
pub(crate) fn study_of_plan(
    plan: &Planned,
    store: &Store,
    resamples: usize,
    progress: &dyn Progress,
) -> Result<Study, Error> {
    // A suite that reproduces no paper may say so in a word, which is no sentence for a reader.
    let named = !["", "none", "-"].contains(&plan.paper.trim().to_lowercase().as_str());
    let about = if named { plan.paper.clone() } else { String::new() };
    let mut study = Study { title: plan.title.clone(), about, ..Study::default() };
    progress.start("runs", plan.runs.len());
    for planned in &plan.runs {
        let run = match (store.is_finished(&planned.id), store.failure(&planned.id)) {
            (true, _) => {
                let asked = asked(plan, planned, store, resamples);
                finished(store, &store.record(&planned.id)?, &asked)?
            }
            (false, Some(failure)) => unfinished(planned, Outcome::Failed(failure.error)),
            (false, None) => unfinished(planned, Outcome::Missing),
        };
        add(&mut study, run, &planned.settings);
        progress.advance(1);
    }
    complete(study, store, progress)
}

/// Adds a run. One that was trained for another task than the test set belongs to the run of the same
/// method and seed.
fn add(study: &mut Study, run: Run, settings: &Settings) {
    let tested = settings.predict.contains(&Evaluation::Test);
    let same = |other: &&mut Run| {
        (&other.method, &other.data, &other.network, other.seed)
            == (&run.method, &run.data, &run.network, run.seed)
    };
    let main = study.runs.iter_mut().find(same).filter(|_| !tested);
    match (main, run.outcome) {
        (None, outcome) => study.runs.push(Run { outcome, ..run }),
        (Some(Run { outcome: Outcome::Finished(main), .. }), Outcome::Finished(other)) => {
            main.rows.extend(other.rows);
        }
        (Some(main), Outcome::Failed(why)) => {
            let seed = main.seed.map_or(String::new(), |seed| format!(" with seed {seed}"));
            let what = format!("{}: training for another task{seed} failed", main.method);
            study.warnings.push(Warning { what, why });
        }
        (Some(_), Outcome::Finished(_) | Outcome::Missing) => {}
    }
}

fn unfinished(planned: &PlannedRun, outcome: Outcome) -> Run {
    Run {
        id: planned.id.to_string(),
        data: planned.settings.data.clone(),
        network: planned.settings.network.clone(),
        method: planned.label.clone(),
        seed: Some(planned.settings.seed),
        outcome,
    }
}

/// All runs of a folder, and those that failed.
fn study_of_all(
    folder: &Path,
    store: &Store,
    resamples: usize,
    progress: &dyn Progress,
) -> Result<Study, Error> {
    let mut records = store.finished()?;
    let mut failures = store.failures()?;
    if records.is_empty() && failures.is_empty() {
        refuse!("{}: no runs; `dubio run quick` makes some", folder.display());
    }
    let key = |s: &Settings, label: &str| {
        let tested = s.predict.contains(&Evaluation::Test);
        (s.data.clone(), s.network.clone(), label.to_string(), s.seed, !tested)
    };
    records.sort_by_key(|record| key(&record.settings, &record.label));
    failures.sort_by_key(|failure| key(&failure.settings, &failure.label));
    let mut study = Study { about: format!("Runs in {}.", folder.display()), ..Study::default() };
    progress.start("runs", records.len());
    for record in &records {
        let asked = Asked { resamples, ..Asked::default() };
        let run = finished(store, record, &asked)?;
        add(&mut study, run, &record.settings);
        progress.advance(1);
    }
    for failure in failures {
        let settings = failure.settings.clone();
        add(&mut study, failed(failure), &settings);
    }
    study.title = title(&study.runs);
    complete(study, store, progress)
}

fn failed(failure: Failure) -> Run {
    Run {
        id: failure.id.into(),
        data: failure.settings.data,
        network: failure.settings.network,
        method: failure.label,
        seed: Some(failure.settings.seed),
        outcome: Outcome::Failed(failure.error),
    }
}

/// `15 methods on digits`.
fn title(runs: &[Run]) -> String {
    let names = |of: fn(&Run) -> &str| runs.iter().map(of).collect::<BTreeSet<&str>>();
    let (methods, sets) = (names(|run| &run.method), names(|run| family(&run.data)));
    let sets: Vec<&str> = sets.into_iter().collect();
    match (methods.len(), &sets[..]) {
        (1, _) => format!("{} on {}", runs[0].method, sets.join(", ")),
        (n, [one]) => format!("{n} methods on {one}"),
        (n, several) => format!("{n} methods on {} data sets", several.len()),
    }
}

/// Adds what concerns all runs of a method together.
fn complete(mut study: Study, store: &Store, progress: &dyn Progress) -> Result<Study, Error> {
    let test = |run: &Run| (run.id.clone(), store.folder().join(&run.id).join("test.npz"));
    let seen = |run: &&Run| run.finished().is_some_and(|finished| finished.view("test").is_some());
    let files = study.runs.iter().filter(seen).map(test).collect();
    study.baseline =
        study.runs.iter().find(|run| is_deep_ensemble(run)).map(|run| run.method.clone());
    grow(&mut study, &files, Whose::Runs, progress)?;
    Ok(study)
}

fn is_deep_ensemble(run: &Run) -> bool {
    let record = run.finished().and_then(|finished| finished.record.as_ref());
    record.is_some_and(|record| record["settings"]["recipe"]["method"]["method"] == "deep-ensemble")
}

fn finished(store: &Store, record: &Record, asked: &Asked) -> Result<Run, Error> {
    let row = |row: Scored| Row { split: row.split, entry: row.entry };
    let looks = looks(store, record, asked.resamples)?;
    let finished = Finished {
        members: record.samples,
        cost: Some(cost(record)),
        record: Some(shortened(record)),
        rows: scores(store, record, Extent::Reported, asked)?.into_iter().map(row).collect(),
        views: looks.views,
        checks: looks.checks,
        sweeps: looks.sweeps,
    };
    Ok(Run {
        id: record.id.to_string(),
        data: record.settings.data.clone(),
        network: record.settings.network.clone(),
        method: record.label.clone(),
        seed: Some(record.settings.seed),
        outcome: Outcome::Finished(Box::new(finished)),
    })
}

fn cost(record: &Record) -> Cost {
    let spent = &record.spent;
    Cost {
        train_secs: spent.train_wall_secs,
        train_cpu_secs: spent.train_cpu_secs,
        predict_secs: spent.predict_wall_secs,
        peak_bytes: spent.peak_bytes,
        parameters: spent.parameters as u64,
        macs: spent.macs,
        stored_bytes: spent.stored_bytes,
    }
}

/// The record without the losses of every epoch, which the run's own file has.
fn shortened(record: &Record) -> serde_json::Value {
    let mut value = serde_json::to_value(record).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("losses");
    }
    value
}
