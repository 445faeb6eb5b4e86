//! Runs on a cluster: array jobs of Slurm, one task for each run, over a folder that all nodes share.
//!
//! [`submit`] hands over the runs that Slurm does not have yet, [`watch`] waits for them. A task is the
//! same `work` that a run on this machine is, so what is known of a run is in the store alone; Slurm is
//! asked only whether a task is still its own. What was submitted is in `runs/.slurm/N/`, written
//! before Slurm is asked and found again by the job's name: whenever the watcher dies, the next one
//! knows which runs are queued.

mod ask;
mod batch;
mod complaint;
mod fate;
mod queue;
mod submit;
mod watch;

pub use complaint::Complaint;
pub use submit::{Submitted, Worker, submit};
pub use watch::watch;

/// What the user asks of Slurm.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Partition; the cluster's own choice when left out.
    pub partition: Option<String>,
    /// Limit of time for each run, as `sbatch` takes it.
    pub time: Option<String>,
    /// Generic resources for each run, such as `gpu:1`.
    pub gres: Option<String>,
    /// More options of `sbatch`, each as a line `#SBATCH` has it.
    pub lines: Vec<String>,
    /// Runs at a time; as many as the cluster gives when left out.
    pub jobs: Option<u16>,
}

/// Why runs are not with Slurm.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no Slurm here.
    #[error(
        "`{0}` is not on the PATH; run this on a machine that submits jobs to Slurm, or leave \
         --on slurm out to run here"
    )]
    NoSlurm(&'static str),
    /// Slurm does not take the job.
    #[error("Slurm refuses the job: {words}; {advice}")]
    Refused {
        /// Slurm's own words.
        words: String,
        /// What to do.
        advice: &'static str,
    },
    /// Slurm cannot be asked.
    #[error("{program}: {words}; try again when `sinfo` answers")]
    Silent {
        /// Which of its programs.
        program: &'static str,
        /// Its words.
        words: String,
        /// What they are about.
        complaint: Complaint,
    },
    /// A line that cannot stand in a job's script.
    #[error("--sbatch {0:?}: give one option of sbatch, as in --sbatch '--mem=4G'")]
    Line(String),
    /// The folder of runs cannot be written.
    #[error("{0}; free some space or choose another folder with --runs")]
    Folder(#[from] std::io::Error),
}
