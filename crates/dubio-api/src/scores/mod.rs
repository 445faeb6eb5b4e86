//! The scores of a finished run, worked out once and kept beside it.

mod form;
mod work_out;

use std::path::{Path, PathBuf};

use dubio_bench::evaluation::Evaluation;
use dubio_bench::plan::PlannedRun;
use dubio_bench::search::Search;
use dubio_bench::store::{Cause, Record, Store};
use dubio_bench::study::Study;
use dubio_metrics::scorecard::Entry;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::kept::{self, Identity, Key};
use form::Kept;

/// Name of the file in a run's folder.
const FILE: &str = "scores.json";

/// How many scores of a run are worked out. The larger extent includes the smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Extent {
    /// Those that a report shows: all of the test set, elsewhere the plain ones and `calibrated.nll`.
    Reported,
    /// All.
    Everything,
}

impl Extent {
    /// Whether a score of a split belongs to it.
    pub(crate) fn wants(self, split: &str, name: &str) -> bool {
        let reported = split == "test" || !name.contains('.') || name == "calibrated.nll";
        self == Self::Everything || reported
    }
}

/// A score of a run on a split.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The run's id.
    pub(crate) run: String,
    /// Which predictions: `test`, `shift.fog.3`, `decision`, `mixing.kmnist-test.30`; detection of
    /// another set is a score of `test`.
    pub(crate) split: String,
    /// Name, value or why there is none, interval.
    pub(crate) entry: Entry,
}

/// How a run is scored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// Resamples behind the intervals, which the scores of the test set have; 0 for none.
    pub(crate) resamples: usize,
    /// Predictions of the same test set to compare with.
    pub(crate) reference: Option<PathBuf>,
    /// The array of groups to score each on its own.
    pub(crate) groups: Option<String>,
}

/// How a run of a study is scored.
pub(crate) fn asked(study: &Study, run: &PlannedRun, store: &Store, resamples: usize) -> Asked {
    let reference = reference(study, run, store);
    Asked { resamples, reference, groups: study.groups.clone() }
}

/// The scores of a run.
pub(crate) fn scores(
    store: &Store,
    record: &Record,
    extent: Extent,
    asked: &Asked,
) -> Result<Vec<Row>, Error> {
    let path = store.run(&record.id).join(FILE);
    let key = key(store, record, asked);
    if let Some(kept) = key.as_ref().and_then(|key| kept::load::<Kept>(&path, key))
        && let Some(rows) = kept.rows(&record.id, extent, asked.resamples)
    {
        return Ok(rows);
    }
    let rows = work_out::scores(store, record, extent, asked)?;
    if let (Some(key), Some(kept)) = (&key, Kept::of(&rows, extent, asked.resamples)) {
        kept::save(&path, key, &kept);
    }
    Ok(rows)
}

/// The predictions that a run's are compared with: on the same data, those of the reference's run with
/// the same seed, or of its first run where it has no such seed. A reference may also be a file.
fn reference(study: &Study, run: &PlannedRun, store: &Store) -> Option<PathBuf> {
    let name = study.reference.as_ref()?;
    let settings = &run.settings;
    let runs = study.runs.iter().filter(|other| {
        let o = &other.settings;
        other.label == *name
            && (&o.data, &o.network) == (&settings.data, &settings.network)
            && o.predict.contains(&Evaluation::Test)
            && store.is_finished(&other.id)
    });
    let mut runs = runs.peekable();
    if !study.runs.iter().any(|other| other.label == *name) {
        return Some(Path::new(name).to_path_buf());
    }
    let first = runs.peek().map(|run| run.id.clone());
    let same = runs.find(|other| other.settings.seed == settings.seed);
    let id = same.map(|run| run.id.clone()).or(first)?;
    Some(store.run(&id).join("test.npz"))
}

/// All that the scores of a run depend on, besides how many are wanted.
fn key(store: &Store, record: &Record, asked: &Asked) -> Option<Key> {
    let reference = match &asked.reference {
        Some(path) => Some((path, Identity::of(path)?)),
        None => None,
    };
    Key::of(&("scores", predictions(store, record)?, reference, &asked.groups))
}

/// A run's predictions: which, what they are scored by, and what tells their files from others.
pub(crate) fn predictions(store: &Store, record: &Record) -> Option<impl Serialize + use<>> {
    let settings = &record.settings;
    let file = |name: String| Identity::of(&store.run(&record.id).join(format!("{name}.npz")));
    let files: Option<Vec<Identity>> =
        settings.predict.iter().map(|evaluation| file(settings.file(evaluation))).collect();
    Some((record.id.clone(), settings.predict.clone(), settings.learn.is_some(), files?))
}

/// How bad a trial's score is, once it is finished; infinite when the trial failed by itself or has no
/// score. Unknown where the machine is at fault: such a trial is done again.
pub(crate) fn badness(store: &Store, run: &PlannedRun, search: &Search) -> Option<f64> {
    if !store.is_finished(&run.id) {
        let own = store.failure(&run.id).filter(|failure| failure.cause == Cause::Run);
        return own.map(|_| f64::INFINITY);
    }
    let record = store.record(&run.id).ok()?;
    let rows = scores(store, &record, Extent::Everything, &Asked::default()).unwrap_or_default();
    let badness = |row: &Row| {
        let value = row.entry.value.as_ref().ok()?;
        row.entry.card.direction.badness(*value)
    };
    let first = rows.iter().find(|row| row.entry.name == search.score);
    Some(first.and_then(badness).unwrap_or(f64::INFINITY))
}
