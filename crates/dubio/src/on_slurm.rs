//! `dubio run --on slurm`: the runs of a study as tasks of a cluster.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use dubio_bench::executor::{Ended, Listener};
use dubio_bench::plan::PlannedRun;
use dubio_bench::slurm::{self, Options, Submitted, Worker};
use dubio_bench::store::Store;

use crate::interrupt::same_command;

/// Where runs are done, if not on this machine.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum On {
    /// As tasks of array jobs; the folder of runs must be one that all nodes share.
    Slurm,
}

/// What is asked of Slurm.
#[derive(clap::Args)]
#[command(next_help_heading = "With --on slurm")]
pub(crate) struct SlurmArgs {
    /// Partition to run in.
    #[arg(long, value_name = "NAME", requires = "on")]
    partition: Option<String>,
    /// Limit of time for each run, such as 4:00:00.
    #[arg(long, value_name = "TIME", requires = "on")]
    time: Option<String>,
    /// Resources for each run, such as gpu:1.
    #[arg(long, value_name = "LIST", requires = "on")]
    gres: Option<String>,
    /// Another option of sbatch, such as --mem=4G; may be given again and again.
    #[arg(long, value_name = "LINE", requires = "on", allow_hyphen_values = true)]
    sbatch: Vec<String>,
}

impl SlurmArgs {
    fn options(&self, jobs: Option<u16>) -> Options {
        Options {
            partition: self.partition.clone(),
            time: self.time.clone(),
            gres: self.gres.clone(),
            lines: self.sbatch.clone(),
            jobs,
        }
    }

    /// Submits what Slurm does not have, and waits for all of it.
    pub(crate) fn run(
        &self,
        to_do: &[&PlannedRun],
        store: &Store,
        data: &Path,
        jobs: Option<u16>,
        stop: &AtomicBool,
        listener: &dyn Listener,
    ) -> Result<Vec<Ended>> {
        if to_do.is_empty() {
            return Ok(Vec::new());
        }
        let program = std::env::current_exe()?;
        let worker = Worker { program: &program, data };
        let submitted = slurm::submit(to_do, store, worker, &self.options(jobs), listener)?;
        let jobs = job_numbers(&submitted);
        listener.noted(&format!(
            "logs are in {}; Ctrl-C leaves the jobs running",
            store.folder().join(".slurm").display()
        ));
        let ended = slurm::watch(to_do, &submitted, store, stop, listener)?;
        if stop.load(Ordering::Relaxed) {
            let finished = ended.iter().filter(|how| **how == Ended::Finished).count();
            let (all, again) = (to_do.len(), same_command());
            bail!(
                "no longer watching, with {finished} of {all} runs finished; the jobs go on. Watch \
                 again with: {again}; cancel them with: scancel {jobs}"
            );
        }
        Ok(ended)
    }
}

fn job_numbers(submitted: &[Result<Submitted, String>]) -> String {
    let mut jobs: Vec<&str> = submitted.iter().flatten().map(|task| &task.job[..]).collect();
    jobs.dedup();
    jobs.join(" ")
}
