//! The folder of runs: `runs/<id>/`, each there whole or not at all.
//!
//! A run is made in `runs/.work/<id>/` and renamed into its place when it is finished; checkpoints lie
//! in `runs/.checkpoints/<id>/`, reports of failures in `runs/.failed/<id>.json`, studies in
//! `runs/.studies/`. A lock on `runs/.locks/<id>`, which the system releases when its holder dies, keeps
//! two processes from doing the same run.
//!
//! A folder may come from elsewhere, so nothing in it leads out of it: a run is called what its folder is
//! called, and nothing is deleted, locked or written through a symbolic link.

mod files;
mod record;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use dubio_infer::lock;
use serde::Serialize;

use self::files::{ids, in_the_way, no_links, remove};
pub(crate) use self::files::{read, write_pretty};
pub use self::record::{Cause, Failure, Record, Spent};
use crate::plan::PlannedRun;
use crate::run_id::RunId;

/// A folder of runs.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// A run that this process has claimed.
#[derive(Debug)]
pub struct Claim {
    // Dropping the file releases the lock.
    _lock: File,
}

impl Store {
    /// A store in this folder, which is made when something is written.
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

    /// Removes a run's checkpoints, so that it begins anew.
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

    /// The same, whether it is there or not. A link is refused: what lies behind it is not ours.
    fn at_home(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.folder.join(name);
        if folder.is_symlink() { Err(in_the_way(&folder)) } else { Ok(folder) }
    }

    /// A folder to make a run in. Predictions that an earlier attempt finished stay there: a file has its name
    /// only once it is whole.
    pub fn begin(&self, id: &RunId) -> io::Result<PathBuf> {
        let work = self.inside(".work")?.join(&**id);
        if work.is_symlink() || !work.is_dir() {
            remove(&work)?;
            fs::create_dir(&work)?;
        }
        for entry in fs::read_dir(&work)? {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            if !kind.is_file() || path.extension().is_none_or(|extension| extension != "npz") {
                remove(&path)?;
            }
        }
        Ok(work)
    }

    /// Moves a run that was made in `work` into its place, and removes what it no longer needs.
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

    /// Removes the report of a failure, before the run is tried again.
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

    /// The state of a planned run.
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

/// The state of a planned run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Complete and stored.
    Finished,
    /// Tried, and failed.
    Failed,
    /// A checkpoint is there.
    Begun,
    /// Nothing is there.
    Missing,
}
