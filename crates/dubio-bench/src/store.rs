//! The folder of runs: `runs/<id>/`, each there whole or not at all.
//!
//! A run is made in `runs/.work/<id>/` and renamed into its place when it is finished; checkpoints lie
//! in `runs/.checkpoints/<id>/`, reports of failures in `runs/.failed/<id>.json`, studies in `runs/.studies/`. A lock on
//! `runs/.locks/<id>`, which the system gives back when its holder dies, keeps two runners apart.
//!
//! A folder may come from elsewhere, so nothing in it leads out of it: a run is called what its folder is
//! called, and nothing is deleted, locked or written through a symbolic link.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dubio_infer::lock;
use dubio_predictions::write_whole;
use serde::{Deserialize, Serialize};

use crate::plan::{PlannedRun, Settings};
use crate::run_id::RunId;

/// What a finished run says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The run's id.
    pub id: RunId,
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
    pub id: RunId,
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
    pub fn run(&self, id: &RunId) -> PathBuf {
        self.folder.join(&**id)
    }

    /// Whether a run is finished.
    pub fn is_finished(&self, id: &RunId) -> bool {
        self.run(id).join("record.json").is_file()
    }

    /// A run's folder for checkpoints.
    pub fn checkpoints(&self, id: &RunId) -> PathBuf {
        self.folder.join(".checkpoints").join(&**id)
    }

    /// Takes a run's checkpoints away, so that it begins again.
    pub fn forget_checkpoints(&self, id: &RunId) -> io::Result<()> {
        remove(&self.at_home(".checkpoints")?.join(&**id))
    }

    /// Claims a run; `None` when another process has it.
    pub fn claim(&self, id: &RunId) -> io::Result<Option<Claim>> {
        no_links(&self.inside(".checkpoints")?.join(&**id))?;
        let lock = lock::open(&self.inside(".locks")?.join(&**id))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Claim { _lock: lock })),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// A folder of ours inside the folder of runs, made where it is missing.
    pub(crate) fn inside(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.at_home(name)?;
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// The same, made or not: what lies behind a link is not ours.
    fn at_home(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.folder.join(name);
        if folder.is_symlink() { Err(in_the_way(&folder)) } else { Ok(folder) }
    }

    /// An empty folder to make a run in.
    pub fn begin(&self, id: &RunId) -> io::Result<PathBuf> {
        let work = self.inside(".work")?.join(&**id);
        remove(&work)?;
        fs::create_dir(&work)?;
        Ok(work)
    }

    /// Puts a run that was made in `work` into its place, and what it no longer needs away.
    pub fn finish(&self, work: &Path, record: &Record) -> io::Result<()> {
        write_pretty(&work.join("record.json"), record)?;
        for entry in fs::read_dir(work)? {
            File::open(entry?.path())?.sync_all()?;
        }
        fs::rename(work, self.run(&record.id))?;
        self.forget_checkpoints(&record.id)?;
        self.forget_failure(&record.id)
    }

    /// Reports that a run did not finish.
    pub fn fail(&self, failure: &Failure) -> io::Result<()> {
        self.inside(".failed")?;
        write_pretty(&self.failure_path(&failure.id), failure)
    }

    /// Why a run did not finish the last time, if so.
    pub fn failure(&self, id: &RunId) -> Option<Failure> {
        let failure: Failure = serde_json::from_slice(&read(&self.failure_path(id)).ok()?).ok()?;
        Some(failure).filter(|failure| failure.id == *id)
    }

    /// Takes away the report of a failure, before the run is tried again.
    pub fn forget_failure(&self, id: &RunId) -> io::Result<()> {
        self.at_home(".failed")?;
        remove(&self.failure_path(id))
    }

    /// Why runs that are not finished failed the last time, by id.
    pub fn failures(&self) -> io::Result<Vec<Failure>> {
        let mut ids = ids(&self.folder.join(".failed"), ".json")?;
        ids.retain(|id| !self.is_finished(id));
        Ok(ids.iter().filter_map(|id| self.failure(id)).collect())
    }

    fn failure_path(&self, id: &RunId) -> PathBuf {
        self.folder.join(".failed").join(format!("{id}.json"))
    }

    /// The record of a finished run. Its folder says which run it is; a record of another is an error.
    pub fn record(&self, id: &RunId) -> io::Result<Record> {
        let path = self.run(id).join("record.json");
        let damaged = |what: String| {
            let what = format!("{}: {what}; remove the run", path.display());
            io::Error::new(io::ErrorKind::InvalidData, what)
        };
        let record: Record =
            serde_json::from_slice(&read(&path)?).map_err(|e| damaged(e.to_string()))?;
        match record.id == *id {
            true => Ok(record),
            false => Err(damaged(format!("is the record of run {}", record.id))),
        }
    }

    /// Ids of all finished runs, in their order.
    pub fn ids(&self) -> io::Result<Vec<RunId>> {
        let mut ids = ids(&self.folder, "")?;
        ids.retain(|id| self.is_finished(id));
        Ok(ids)
    }

    /// All finished runs, by id.
    pub fn finished(&self) -> io::Result<Vec<Record>> {
        self.ids()?.iter().map(|id| self.record(id)).collect()
    }

    /// Removes a run and all that belongs to it.
    pub fn remove(&self, id: &RunId) -> io::Result<()> {
        let folders = [".checkpoints", ".failed", ".work", ".locks"].map(|name| self.at_home(name));
        let folders = folders.into_iter().collect::<io::Result<Vec<_>>>()?;
        remove(&self.run(id))?;
        remove(&self.failure_path(id))?;
        folders.iter().try_for_each(|folder| remove(&folder.join(&**id)))
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
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

/// The bytes of a file; a pipe or a device, which may have no end, is none.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    match path.metadata()?.is_file() {
        true => fs::read(path),
        false => Err(in_the_way(path)),
    }
}

/// The ids in a folder, in their order: what is called like one, with this ending.
fn ids(folder: &Path, ending: &str) -> io::Result<Vec<RunId>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let id = |name: String| RunId::try_from(name.strip_suffix(ending)?.to_string()).ok();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut ids: Vec<RunId> = names.filter_map(id).collect();
    ids.sort();
    Ok(ids)
}

/// Removes a file, a folder with all that is in it, or a symbolic link, but not where it leads.
fn remove(path: &Path) -> io::Result<()> {
    let result = match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// That neither a path nor anything below it is a symbolic link.
fn no_links(path: &Path) -> io::Result<()> {
    let there = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        there => there?,
    };
    if there.is_symlink() {
        return Err(in_the_way(path));
    }
    match there.is_dir() {
        true => fs::read_dir(path)?.try_for_each(|entry| no_links(&entry?.path())),
        false => Ok(()),
    }
}

fn in_the_way(path: &Path) -> io::Error {
    let what = "is a link or no file; remove it";
    io::Error::other(format!("{}: {what}", path.display()))
}
