//! Scores of finished runs, long and tidy: pure, so that a new score never needs retraining.

use std::path::Path;

use dubio_metrics::bootstrap::Bootstrap;
use dubio_metrics::detection::ood::Uncertainties;
use dubio_metrics::examples::Examples;
use dubio_metrics::pool::{Pooled, pool};
use dubio_metrics::regression::Outcomes;
use dubio_metrics::score::Options;
use dubio_metrics::scorecard::{self, Entry, Scoring, Silent};
use dubio_metrics::stream::Stream;
use dubio_metrics::{classification, regression};
use dubio_predictions::{Classification, Error, Predictions, RegressionKind, open};

use crate::plan::Evaluation;
use crate::store::{Record, Store};

/// A score of a run on a split.
#[derive(Clone, Debug)]
pub struct Row {
    /// The run's id.
    pub run: String,
    /// Which predictions: `test`, `shift.fog.3`; detection of another set is a score of `test`.
    pub split: String,
    /// Name, value or why there is none, interval.
    pub entry: Entry,
}

/// Which scores to work out; asked with a split and a name.
pub type Wanted<'a> = &'a (dyn Fn(&str, &str) -> bool + Sync);

/// Every score of a run that is wanted. Intervals are of the test part's scores only, by so many
/// resamples; 0 for none.
pub fn score(
    store: &Store,
    record: &Record,
    resamples: usize,
    wanted: Wanted<'_>,
) -> Result<Vec<Row>, Error> {
    let folder = store.run(&record.id);
    let mut rows = Vec::new();
    let mut inside = None;
    for evaluation in &record.settings.predict {
        let split = evaluation.name();
        let path = folder.join(format!("{split}.npz"));
        let tested = *evaluation == Evaluation::Test;
        let root = Stream::root(0);
        let on_test = |name: &str| wanted("test", name);
        let here = |name: &str| wanted(&split, name);
        let detecting = matches!(evaluation, Evaluation::Ood { .. });
        let scoring = Scoring {
            options: Options::default(),
            bootstrap: (tested && resamples > 0)
                .then(|| Bootstrap { resamples, stream: root.child("bootstrap") }),
            splits: root.child("calibrated"),
            wanted: if detecting { &on_test } else { &here },
            progress: &Silent,
        };
        let (split, entries) = match evaluation {
            Evaluation::Ood { .. } => {
                let name = split.trim_start_matches("ood.").to_string();
                let Some(inside) = &inside else { continue };
                let outside = Uncertainties::of(&pooled(&classes(&path)?)?);
                ("test".to_string(), scorecard::ood(&name, inside, &outside, &scoring))
            }
            _ => {
                let (entries, uncertainties) = scored(&path, &scoring)?;
                if tested {
                    inside = uncertainties;
                }
                (split, entries)
            }
        };
        let run = &record.id;
        rows.extend(entries.into_iter().map(|entry| Row {
            run: run.clone(),
            split: split.clone(),
            entry,
        }));
    }
    Ok(rows)
}

fn scored(
    path: &Path,
    scoring: &Scoring<'_>,
) -> Result<(Vec<Entry>, Option<Uncertainties>), Error> {
    match open(path)? {
        Predictions::Classification(file) => {
            let pooled = pooled(&file)?;
            let uncertainties = Uncertainties::of(&pooled);
            let labels = file.labels.clone().ok_or_else(|| {
                Error::file(path, "there is no array `labels`", "remove the run and do it again")
            })?;
            let examples = Examples::new(pooled, labels);
            let scores = classification::scores();
            // What would need a reference or a cost matrix has none here.
            let given = |name: &str| {
                let plain = name.strip_prefix("calibrated.").unwrap_or(name);
                let extra = ["agreement", "total_variation", "decision_cost", "decision_cost_mean"];
                (scoring.wanted)(name) && !extra.contains(&plain)
            };
            let scoring = Scoring {
                wanted: &given,
                options: scoring.options.clone(),
                bootstrap: scoring.bootstrap.clone(),
                splits: scoring.splits.clone(),
                ..*scoring
            };
            let mut entries = scorecard::plain(&examples, &scores, &scoring);
            entries.extend(scorecard::calibrated(&examples, &scores, &scoring));
            Ok((entries, Some(uncertainties)))
        }
        Predictions::Regression(file) => {
            let RegressionKind::Gaussians(mean, std) = &file.kind else {
                return Err(Error::file(
                    path,
                    "holds no Gaussians",
                    "remove the run and do it again",
                ));
            };
            let outcomes =
                Outcomes::gaussians(mean, std, file.targets.clone(), scoring.options.level);
            let outcomes = outcomes.map_err(|bad| {
                Error::array(path, bad.array, &bad, "remove the run and do it again")
            })?;
            Ok((scorecard::plain(&outcomes, &regression::scores(), scoring), None))
        }
    }
}

fn classes(path: &Path) -> Result<Classification, Error> {
    match open(path)? {
        Predictions::Classification(file) => Ok(file),
        Predictions::Regression(_) => {
            Err(Error::file(path, "predicts no classes", "remove the run and do it again"))
        }
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
