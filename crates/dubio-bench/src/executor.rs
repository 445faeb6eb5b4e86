//! What executors share: exit codes of workers, how runs end, and who is told.

use dubio_progress::{Progress, Silent};

use crate::plan::PlannedRun;

/// Exit codes of a worker.
pub mod exit {
    /// The run is finished and stored.
    pub const FINISHED: i32 = 0;
    /// It failed, and the failure is stored.
    pub const FAILED: i32 = 1;
    /// It was asked to stop, and a checkpoint is there.
    pub const STOPPED: i32 = 3;
    /// Another process has the run.
    pub const TAKEN: i32 = 4;
}

/// The line that a worker reads, after the planned run, when it should stop. Signals reach it only where they
/// are sent to all processes of a terminal.
pub const STOP: &str = "stop\n";

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It is complete and stored.
    Finished,
    /// It failed; why.
    Failed(String),
    /// It was asked to stop, or nobody waited for it.
    Stopped,
    /// Another process is working on it.
    Taken,
}

/// Is told how the runs of a study go.
pub trait StudyProgress: Progress {
    /// A run begins.
    fn began(&self, _run: &PlannedRun) {}
    /// This fraction of it is done, from 0 to 1.
    fn progressed(&self, _run: &PlannedRun, _fraction: f64) {}
    /// It ended.
    fn ended(&self, _run: &PlannedRun, _how: &Ended) {}
}

impl StudyProgress for Silent {}
