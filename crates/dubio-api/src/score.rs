//! `score`: the scores of the finished runs of a folder, in long, tidy form.

use std::path::PathBuf;

use dubio_bench::store::{Record, Store};
use dubio_bench::study::Study;
use serde::Serialize;

use crate::Error;
use crate::error::{guard_in_pool, refuse};
use crate::names::Selection;
use crate::scorecard::Score;
use crate::scores::{Asked, Extent, Row, asked, scores};

/// Which runs to score, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder of the runs.
    pub runs: PathBuf,
    /// Only these scores, by name, family or pattern; all where it is empty.
    pub scores: Vec<String>,
    /// Resamples behind the intervals of the test set; 0 for none.
    pub resamples: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { runs: PathBuf::from("runs"), scores: Vec::new(), resamples: 1000 }
    }
}

/// A score of a run on a split.
#[derive(Clone, Debug, Serialize)]
pub struct RunScore {
    /// The run's id.
    pub run: String,
    /// Name of the data set.
    pub data: String,
    /// Name of the network.
    pub network: String,
    /// The method's name in tables.
    pub method: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Samples of the posterior.
    pub samples: usize,
    /// Which predictions.
    pub split: String,
    /// Name, value and interval.
    #[serde(flatten)]
    pub score: Score,
}

impl RunScore {
    pub(crate) fn of(record: &Record, row: Row) -> Self {
        Self {
            run: row.run,
            data: record.settings.data.clone(),
            network: record.settings.network.clone(),
            method: record.label.clone(),
            seed: record.settings.seed,
            samples: record.samples,
            split: row.split,
            score: row.entry.into(),
        }
    }
}

/// Scores the finished runs of a folder.
pub fn score(settings: &Settings) -> Result<Vec<RunScore>, Error> {
    guard_in_pool(|| scored(settings))
}

fn scored(settings: &Settings) -> Result<Vec<RunScore>, Error> {
    let selection = Selection::new(&settings.scores)?;
    let store = Store::new(&settings.runs);
    let records = store.finished()?;
    if records.is_empty() {
        refuse!("{}: no finished runs; `dubio run quick` makes some", settings.runs.display());
    }
    let studies = Study::all(&store)?;
    let mut all = Vec::new();
    for record in &records {
        let planned = studies
            .iter()
            .find_map(|study| Some((study, study.runs.iter().find(|run| run.id == record.id)?)));
        let resamples = settings.resamples;
        let asked = match planned {
            Some((study, run)) => asked(study, run, &store, resamples),
            None => Asked { resamples, ..Asked::default() },
        };
        let mut rows = scores(&store, record, Extent::Everything, &asked)?;
        rows.retain(|row| selection.wants(&row.entry.name));
        all.extend(rows.into_iter().map(|row| RunScore::of(record, row)));
    }
    Ok(all)
}
