//! The folder of runs: `runs/<id>/`, each there whole or not at all.
//!
//! A run is made in `runs/.work/<id>/` and renamed into its place when it is finished; checkpoints lie
//! in `runs/.checkpoints/<id>/`, reports of failures in `runs/.failed/<id>.json`, studies in `runs/.studies/`. A lock on
//! `runs/.locks/<id>`, which the system gives back when its holder dies, keeps two runners apart.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dubio_predictions::write_whole;
use serde::{Deserialize, Serialize};

use crate::plan::{PlannedRun, Settings};

/// What a finished run says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The run's id.
    pub id: String,
    /// What tables call the method.
    pub label: String,
    /// All that the result depends on.
    pub settings: Settings,
    /// Version of the program.
    pub version: String,
    /// Samples of the posterior.
    pub samples: usize,
    /// What it cost.
    pub spent: Spent,
    /// What the method tells of itself, for each member: acceptance rates, step sizes.
    pub report: Vec<serde_json::Map<String, serde_json::Value>>,
    /// Mean loss of each epoch, for each member.
    pub losses: Vec<Vec<f64>>,
}

/// What a run cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Seconds of training, over all resumptions and members.
    pub train_wall_secs: f64,
    /// Processor seconds of training, where the system tells.
    pub train_cpu_secs: Option<f64>,
    /// Seconds of training for each posterior sample.
    pub sample_wall_secs: f64,
    /// Processor seconds of training for each posterior sample.
    pub sample_cpu_secs: Option<f64>,
    /// Seconds for predicting one example with all samples.
    pub predict_wall_secs: f64,
    /// Processor seconds for predicting one example with all samples.
    pub predict_cpu_secs: Option<f64>,
    /// Most memory that the process held which finished the run.
    pub peak_bytes: Option<u64>,
    /// Numbers in the flat vector.
    pub parameters: usize,
    /// Bytes of all samples' parameters and statistics.
    pub stored_bytes: u64,
    /// Multiply-accumulates for one example and one sample.
    pub macs: u64,
}

/// Why a run did not finish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The run's id.
    pub id: String,
    /// What tables call the method.
    pub label: String,
    /// All that the result would depend on.
    pub settings: Settings,
    /// What happened.
    pub error: String,
    /// Whose fault it is.
    pub cause: Cause,
}

/// Whose fault it is that a run did not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Its own: it would fail again, as a chain that diverges.
    Run,
    /// The machine's: a full disk, a kill. A search waits for the run to be done again.
    Machine,
}

impl Failure {
    /// Of a run.
    pub fn new(run: &PlannedRun, error: String, cause: Cause) -> Self {
        let (id, label, settings) = (run.id.clone(), run.label.clone(), run.settings.clone());
        Self { id, label, settings, error, cause }
    }
}

/// A folder of runs.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// A run that is this process's to do.
#[derive(Debug)]
pub struct Claim {
    // Dropping the file gives the lock back.
    _lock: File,
}

impl Store {
    /// In this folder, which is made when something is written.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A finished run's folder.
    pub fn run(&self, id: &str) -> PathBuf {
        self.folder.join(id)
    }

    /// Whether a run is finished.
    pub fn is_finished(&self, id: &str) -> bool {
        self.run(id).join("record.json").is_file()
    }

    /// A run's folder for checkpoints.
    pub fn checkpoints(&self, id: &str) -> PathBuf {
        self.folder.join(".checkpoints").join(id)
    }

    /// Takes a run's checkpoints away, so that it begins again.
    pub fn forget_checkpoints(&self, id: &str) -> io::Result<()> {
        remove(&self.checkpoints(id))
    }

    /// Claims a run; `None` when another process has it.
    pub fn claim(&self, id: &str) -> io::Result<Option<Claim>> {
        let locks = self.folder.join(".locks");
        fs::create_dir_all(&locks)?;
        let lock = File::create(locks.join(id))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Claim { _lock: lock })),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// An empty folder to make a run in.
    pub fn begin(&self, id: &str) -> io::Result<PathBuf> {
        let work = self.folder.join(".work").join(id);
        match fs::remove_dir_all(&work) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir_all(&work)?,
        }
        Ok(work)
    }

    /// Puts a run that was made in `work` into its place, and what it no longer needs away.
    pub fn finish(&self, work: &Path, record: &Record) -> io::Result<()> {
        write_pretty(&work.join("record.json"), record)?;
        for entry in fs::read_dir(work)? {
            File::open(entry?.path())?.sync_all()?;
        }
        fs::rename(work, self.run(&record.id))?;
        remove(&self.checkpoints(&record.id))?;
        remove(&self.failure_path(&record.id))
    }

    /// Reports that a run did not finish.
    pub fn fail(&self, failure: &Failure) -> io::Result<()> {
        let path = self.failure_path(&failure.id);
        fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
        write_pretty(&path, failure)
    }

    /// Why a run did not finish the last time, if so.
    pub fn failure(&self, id: &str) -> Option<Failure> {
        serde_json::from_slice(&fs::read(self.failure_path(id)).ok()?).ok()
    }

    /// Takes away the report of a failure, before the run is tried again.
    pub fn forget_failure(&self, id: &str) -> io::Result<()> {
        remove(&self.failure_path(id))
    }

    /// Why runs that are not finished failed the last time, by id.
    pub fn failures(&self) -> io::Result<Vec<Failure>> {
        let mut ids: Vec<String> = match fs::read_dir(self.folder.join(".failed")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
            Ok(entries) => entries
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .filter_map(|name| name.strip_suffix(".json").map(str::to_string))
                .filter(|id| !self.is_finished(id))
                .collect(),
        };
        ids.sort();
        Ok(ids.iter().filter_map(|id| self.failure(id)).collect())
    }

    fn failure_path(&self, id: &str) -> PathBuf {
        self.folder.join(".failed").join(format!("{id}.json"))
    }

    /// The record of a finished run.
    pub fn record(&self, id: &str) -> io::Result<Record> {
        let path = self.run(id).join("record.json");
        let bytes = fs::read(&path)?;
        serde_json::from_slice(&bytes)
            .map_err(|e| io::Error::other(format!("{}: {e}; remove the run", path.display())))
    }

    /// All finished runs, by id.
    pub fn finished(&self) -> io::Result<Vec<Record>> {
        let mut ids: Vec<String> = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
            Ok(entries) => entries
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .filter(|name| !name.starts_with('.') && self.is_finished(name))
                .collect(),
        };
        ids.sort();
        ids.iter().map(|id| self.record(id)).collect()
    }

    /// Removes a run and all that belongs to it.
    pub fn remove(&self, id: &str) -> io::Result<()> {
        for path in [self.run(id), self.checkpoints(id), self.failure_path(id)] {
            remove(&path)?;
        }
        remove(&self.folder.join(".work").join(id))?;
        remove(&self.folder.join(".locks").join(id))
    }

    /// How a planned run stands.
    pub fn state(&self, run: &PlannedRun) -> State {
        if self.is_finished(&run.id) {
            State::Finished
        } else if self.failure(&run.id).is_some() {
            State::Failed
        } else if self.checkpoints(&run.id).exists() {
            State::Begun
        } else {
            State::Missing
        }
    }
}

/// How a planned run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There, whole.
    Finished,
    /// Tried, and failed.
    Failed,
    /// A checkpoint is there.
    Begun,
    /// Nothing is there.
    Missing,
}

pub(crate) fn write_pretty(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    write_whole(path, |file| file.write_all(&bytes).and_then(|()| file.sync_data()))
}

fn remove(path: &Path) -> io::Result<()> {
    let result = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
