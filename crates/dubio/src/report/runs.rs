//! A study of a folder of runs.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use dubio_bench::plan::PlannedRun;
use dubio_bench::score::{Row as Scored, score};
use dubio_bench::store::{Failure, Record, Store};
use dubio_report::chapter::family;
use dubio_report::study::{Cost, Finished, Outcome, Row, Run, Study};
use dubio_report::view::View;

use super::examine::examine;
use super::growth::grow;
use super::observe::{Observed, observe, uncertainties, worth};

/// Whether a folder holds runs, finished or failed.
pub(super) fn is_store(folder: &Path) -> bool {
    let store = Store::new(folder);
    folder.is_dir()
        && (store.finished().is_ok_and(|runs| !runs.is_empty())
            || store.failures().is_ok_and(|failures| !failures.is_empty()))
}

/// All runs of a folder, and those that failed.
pub(super) fn study_of_folder(folder: &Path, resamples: usize) -> Result<Study> {
    let store = Store::new(folder);
    let mut runs = Vec::new();
    for record in store.finished()? {
        runs.push(finished(&store, &record, resamples)?);
    }
    runs.extend(store.failures()?.into_iter().map(failed));
    if runs.is_empty() {
        bail!("{}: no runs; `dubio run quick` makes some", folder.display());
    }
    runs.sort_by(|a, b| {
        let key = |run: &Run| (run.data.clone(), run.network.clone(), run.method.clone(), run.seed);
        key(a).cmp(&key(b))
    });
    let about = format!("Runs in {}.", folder.display());
    complete(Study { title: title(&runs), about, runs, ..Study::default() }, &store)
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
fn complete(mut study: Study, store: &Store) -> Result<Study> {
    let test = |run: &Run| (run.id.clone(), store.run(&run.id).join("test.npz"));
    let files = study.runs.iter().filter(|run| run.finished().is_some()).map(test).collect();
    grow(&mut study, &files)?;
    study.baseline =
        study.runs.iter().find(|run| is_deep_ensemble(run)).map(|run| run.method.clone());
    Ok(study)
}

fn is_deep_ensemble(run: &Run) -> bool {
    let record = run.finished().and_then(|finished| finished.record.as_ref());
    record.is_some_and(|record| record["settings"]["recipe"]["method"]["method"] == "deep-ensemble")
}

/// The runs of a suite, whether they are there or not, in its order.
pub(crate) fn study_of_runs(
    title: &str,
    about: &str,
    planned: &[PlannedRun],
    store: &Store,
    resamples: usize,
) -> Result<Study> {
    let mut runs = Vec::new();
    for run in planned {
        let known = |outcome| Run {
            id: run.id.clone(),
            data: run.settings.data.clone(),
            network: run.settings.network.clone(),
            method: run.label.clone(),
            seed: Some(run.settings.seed),
            outcome,
        };
        runs.push(match (store.is_finished(&run.id), store.failure(&run.id)) {
            (true, _) => finished(store, &store.record(&run.id)?, resamples)?,
            (false, Some(failure)) => known(Outcome::Failed(failure.error)),
            (false, None) => known(Outcome::Missing),
        });
    }
    let (title, about) = (title.to_string(), about.to_string());
    complete(Study { title, about, runs, ..Study::default() }, store)
}

fn failed(failure: Failure) -> Run {
    Run {
        id: failure.id,
        data: failure.settings.data,
        network: failure.settings.network,
        method: failure.label,
        seed: Some(failure.settings.seed),
        outcome: Outcome::Failed(failure.error),
    }
}

fn finished(store: &Store, record: &Record, resamples: usize) -> Result<Run> {
    let rows = score(store, record, resamples, &worth)?;
    let row = |row: Scored| Row { split: row.split, entry: row.entry };
    let mut finished = Finished {
        members: record.samples,
        cost: Some(cost(record)),
        record: Some(shortened(record)?),
        rows: rows.into_iter().map(row).collect(),
        ..Finished::default()
    };
    look(store, record, resamples, &mut finished)?;
    Ok(Run {
        id: record.id.clone(),
        data: record.settings.data.clone(),
        network: record.settings.network.clone(),
        method: record.label.clone(),
        seed: Some(record.settings.seed),
        outcome: Outcome::Finished(Box::new(finished)),
    })
}

/// What the predictions of each split look like.
fn look(store: &Store, record: &Record, replicates: usize, finished: &mut Finished) -> Result<()> {
    let mut inside = None;
    for evaluation in &record.settings.predict {
        let split = evaluation.name();
        let path = store.run(&record.id).join(format!("{split}.npz"));
        if split.starts_with("ood.") {
            if let Some((classes, inside)) = &inside {
                let outside = uncertainties(&path, *classes)?;
                finished.views.push(View::foreign(&split, *classes, inside, &outside));
            }
            continue;
        }
        let observed = observe(&path)?;
        finished.views.push(observed.view(&split));
        if split == "test" {
            examine(&observed, replicates, finished);
            if let Observed::Classes { examples, uncertainties, .. } = &observed {
                inside = Some((examples.classes, uncertainties.clone()));
            }
        }
    }
    Ok(())
}

fn cost(record: &Record) -> Cost {
    let spent = &record.spent;
    Cost {
        train_secs: spent.train_wall_secs,
        predict_secs: spent.predict_wall_secs,
        peak_bytes: spent.peak_bytes,
        parameters: spent.parameters as u64,
        macs: spent.macs,
        stored_bytes: spent.stored_bytes,
    }
}

/// The record without the losses of every epoch, which the run's own file has.
fn shortened(record: &Record) -> Result<serde_json::Value> {
    let mut value = serde_json::to_value(record)?;
    if let Some(fields) = value.as_object_mut() {
        fields.remove("losses");
    }
    Ok(value)
}
