//! Scores of finished runs, in long, tidy form. They depend on stored predictions alone, so a new score
//! never needs retraining.

use std::path::Path;

use dubio_bench::decision::Decision;
use dubio_bench::evaluation::Evaluation;
use dubio_bench::store::{Record, Store};
use dubio_metrics::curves::mixing::{self, mixing};
use dubio_metrics::detection::ood::Uncertainties;
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Members;
use dubio_metrics::pool::{Pooled, pool};
use dubio_metrics::regression::{self, Parts};
use dubio_metrics::score::Options;
use dubio_metrics::scorecard::{self, Entry};
use dubio_predictions::{Classification, Error, Predictions, open};
use dubio_progress::Silent;
use dubio_random::stream::Stream;

use super::{Asked, Extent, Row};
use crate::loading::outcomes;
use crate::names::Selection;
use crate::scorecard::Scorecard;

/// The scores of a run, from its predictions.
pub(super) fn scores(
    store: &Store,
    record: &Record,
    extent: Extent,
    asked: &Asked,
) -> Result<Vec<Row>, Error> {
    let folder = store.run(&record.id);
    let mut scored = Scored { rows: Vec::new(), run: &record.id, inside: None, extent, asked };
    for evaluation in &record.settings.predict {
        let path = folder.join(format!("{}.npz", record.settings.file(evaluation)));
        scored.add(evaluation, &path)?;
    }
    scored.compose();
    scored.rows.retain(|row| extent.wants(&row.split, &row.entry.name));
    Ok(scored.rows)
}

struct Scored<'a> {
    rows: Vec<Row>,
    run: &'a str,
    /// Uncertainties of the test set, and its number of classes.
    inside: Option<(Uncertainties, usize)>,
    extent: Extent,
    asked: &'a Asked,
}

impl Scored<'_> {
    fn add(&mut self, evaluation: &Evaluation, path: &Path) -> Result<(), Error> {
        let split = evaluation.name();
        match evaluation {
            Evaluation::Ood { .. } => {
                let file = match open(path)? {
                    // There is no detection in a regression, but the set has targets and so scores.
                    Predictions::Regression(_) => return self.plain(&split, path, None),
                    Predictions::Classification(file) => file,
                };
                let outside = pooled(&file)?;
                self.detect(split.trim_start_matches("ood."), &Uncertainties::of(&outside));
            }
            Evaluation::Decision(decision) => self.plain(&split, path, Some(decision))?,
            Evaluation::Attack { .. } => {
                self.plain(&split, path, None)?;
                self.detect(&split, &Uncertainties::of(&pooled(&classes(path)?)?));
            }
            _ => self.plain(&split, path, None)?,
        }
        Ok(())
    }

    fn push(&mut self, split: &str, entries: Vec<Entry>) {
        let (run, split) = (self.run.to_string(), split.to_string());
        let row = |entry| Row { run: run.clone(), split: split.clone(), entry };
        self.rows.extend(entries.into_iter().map(row));
    }

    /// The scores of predictions with labels or targets.
    fn plain(
        &mut self,
        split: &str,
        path: &Path,
        decision: Option<&Decision>,
    ) -> Result<(), Error> {
        let file = match open(path)? {
            Predictions::Regression(file) => {
                let outcomes = outcomes(&file, Options::default().level, Parts::ALL)?;
                // Every score has a row in a study, which says why where there is no value.
                let names = regression::scores().iter().map(|score| score.name()).collect();
                let all = Selection::of(names);
                let entries = self.scored(split, None, |card| {
                    Scorecard { selection: &all, ..card }.numbers(&outcomes)
                });
                self.push(split, entries);
                return Ok(());
            }
            Predictions::Classification(file) => file,
        };
        let pooled = pooled(&file)?;
        let uncertainties = Uncertainties::of(&pooled);
        let labels = file.labels.clone().ok_or_else(|| {
            Error::file(path, "there is no array `labels`", "delete the run and run it again")
        })?;
        let mut examples = Examples::new(pooled, labels);
        let reference = self.asked.reference.as_deref().filter(|_| split == "test");
        if let Some(path) = reference {
            let reference = same(path, &examples)?;
            examples = examples.with_reference(&reference);
        }
        if let Some(decision) = decision {
            let costs = decision.costs(examples.classes);
            examples = examples.with_costs(costs);
        }
        let groups = match self.asked.groups.as_deref().filter(|_| split == "test") {
            None => None,
            Some(name) => Some(file.groups.get(name).ok_or_else(|| {
                let what = format!("there is no array `groups.{name}`");
                Error::file(path, &what, "remove `groups` from the suite")
            })?),
        };
        let entries = self.scored(split, groups, |card| card.classes(&mut examples));
        if split == "test" {
            self.inside = Some((uncertainties, examples.classes));
        }
        self.push(split, entries);
        Ok(())
    }

    /// How well uncertainty tells other examples from those of the test set, and how it grows as
    /// they are mixed in.
    fn detect(&mut self, name: &str, outside: &Uncertainties) {
        let Some((inside, classes)) = &self.inside else { return };
        let entries = self.scored("test", None, |card| card.ood(name, inside, outside));
        let curve = mixed(name, inside, outside, *classes);
        self.push("test", entries);
        curve.into_iter().for_each(|(split, entry)| self.push(&split, vec![entry]));
    }

    /// Scores made of others.
    fn compose(&mut self) {
        let on_test = self.rows.iter().filter(|row| row.split == "test");
        let entries: Vec<Entry> = on_test.map(|row| row.entry.clone()).collect();
        self.push("test", scorecard::composite(&entries));
    }

    /// Scores of a split; those of the test set and of decisions have intervals.
    fn scored(
        &self,
        split: &str,
        groups: Option<&[i64]>,
        of: impl FnOnce(Scorecard<'_>) -> Vec<Entry>,
    ) -> Vec<Entry> {
        let wanted = |name: &str| self.extent.wants(split, name);
        let counted = ["test", "decision"].contains(&split);
        of(Scorecard {
            options: Options::default(),
            resamples: if counted { self.asked.resamples } else { 0 },
            seed: 0,
            wanted: &wanted,
            selection: &Selection::all(),
            groups,
            progress: &Silent,
        })
    }
}

/// The mixing curve of another set, a split for each fraction in percent.
fn mixed(
    name: &str,
    inside: &Uncertainties,
    outside: &Uncertainties,
    classes: usize,
) -> Vec<(String, Entry)> {
    let normal = |all: &[f64]| all.iter().map(|h| h / (classes as f64).ln()).collect::<Vec<f64>>();
    let stream = Stream::root(0).child("mixing");
    let curve = mixing(&normal(&inside.total), &normal(&outside.total), &stream);
    let entry = |point: mixing::Point| {
        let entry = Entry {
            name: mixing::CARD.name.to_string(),
            card: &mixing::CARD,
            n: mixing::BATCH.min(inside.len()).min(outside.len()),
            value: Ok(point.mean),
            note: None,
            interval: Some(point.range),
            replicates: Vec::new(),
        };
        (format!("mixing.{name}.{:.0}", 100.0 * point.fraction), entry)
    };
    curve.into_iter().flatten().map(entry).collect()
}

fn classes(path: &Path) -> Result<Classification, Error> {
    match open(path)? {
        Predictions::Classification(file) => Ok(file),
        Predictions::Regression(_) => {
            Err(Error::file(path, "predicts no classes", "delete the run and run it again"))
        }
    }
}

/// Reference predictions, which must be of these examples.
fn same(path: &Path, examples: &Examples) -> Result<Pooled, Error> {
    let file = classes(path)?;
    let (rows, width) = (file.source.examples(), file.source.width());
    let unlike = match &file.labels {
        _ if rows != examples.len() => Some(format!("{rows} examples, not {}", examples.len())),
        _ if width != examples.classes => {
            Some(format!("{width} classes, not {}", examples.classes))
        }
        Some(labels) if *labels != examples.labels => Some("other labels".to_string()),
        _ => None,
    };
    match unlike {
        Some(what) => Err(Error::file(path, &what, "a reference must predict the same test set")),
        None => pooled(&file),
    }
}

fn pooled(file: &Classification) -> Result<Pooled, Error> {
    pool(&file.source, file.form, &|_| ()).map_err(|fault| {
        Error::array(
            &file.path,
            &file.source.name,
            &fault,
            "the method diverged; change its settings",
        )
    })
}
