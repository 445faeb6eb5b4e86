//! `runs/.slurm/N/`: what was handed to Slurm as one array of tasks.
//!
//! `batch.json` names the job and its runs, task after task; `I.json` is the run of task I, `I.log`
//! what it complained of and `I.progress` how far it is; `job.sh` is the script, `job` Slurm's number.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use dubio_predictions::write_whole;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::plan::PlannedRun;
use crate::run_id::RunId;
use crate::store::{Store, read};

/// One array of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    pub(super) folder: PathBuf,
    /// The job's name, which no other job has.
    pub(super) name: String,
    /// Ids of the runs, by task.
    pub(super) runs: Vec<RunId>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    name: String,
    runs: Vec<RunId>,
}

/// Where all batches of a folder of runs are.
pub(super) fn home(store: &Store) -> io::Result<PathBuf> {
    std::path::absolute(store.inside(".slurm")?)
}

impl Batch {
    /// Makes a folder for some runs, with all that their tasks read.
    pub(super) fn create(store: &Store, runs: &[&PlannedRun]) -> io::Result<Self> {
        let folder = free_folder(&home(store)?)?;
        for (index, run) in runs.iter().enumerate() {
            fs::write(folder.join(format!("{index}.json")), serde_json::to_vec_pretty(run)?)?;
        }
        let name = fresh_name(&folder);
        let runs: Vec<RunId> = runs.iter().map(|run| run.id.clone()).collect();
        let text = serde_json::to_vec(&Written { name: name.clone(), runs: runs.clone() })?;
        write_whole(&folder.join("batch.json"), |file| file.write_all(&text))?;
        Ok(Self { folder, name, runs })
    }

    /// All batches of a folder of runs.
    pub(super) fn all(store: &Store) -> io::Result<Vec<Self>> {
        let mut batches = Vec::new();
        for entry in fs::read_dir(home(store)?)? {
            let folder = entry?.path();
            // Without this file it was never handed over.
            let Ok(text) = read(&folder.join("batch.json")) else { continue };
            let Ok(Written { name, runs }) = serde_json::from_slice(&text) else { continue };
            batches.push(Self { folder, name, runs });
        }
        Ok(batches)
    }

    pub(super) fn log(&self, index: usize) -> PathBuf {
        self.folder.join(format!("{index}.log"))
    }

    /// The fraction of a task that is done, as it was last told.
    pub(super) fn progress(&self, index: usize) -> Option<f64> {
        let text = fs::read_to_string(self.folder.join(format!("{index}.progress"))).ok()?;
        text.lines().rev().find_map(|line| line.trim().parse().ok())
    }
}

fn free_folder(home: &Path) -> io::Result<PathBuf> {
    for number in 1_u32.. {
        let folder = home.join(number.to_string());
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => return other.map(|()| folder),
        }
    }
    unreachable!("numbers do not run out")
}

/// The same folder may be made again when runs were thrown away while their jobs were queued, so the
/// name holds the time as well.
fn fresh_name(folder: &Path) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed = format!("{} {} {}", folder.display(), std::process::id(), now.as_nanos());
    let digest = Sha256::digest(seed.as_bytes());
    let digits: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("dubio-{digits}")
}
