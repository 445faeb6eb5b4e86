//! `dubio run --on slurm`: the runs of a study as tasks of a cluster.

use dubio_bench::slurm::Options;

/// Where runs are done, if not on this machine.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum On {
    /// As tasks of array jobs; all nodes must share the folder of runs.
    Slurm,
}

/// What is asked of Slurm.
#[derive(clap::Args)]
#[command(next_help_heading = "With --on slurm")]
pub(crate) struct SlurmArgs {
    /// Partition to run in.
    #[arg(long, value_name = "NAME", requires = "on")]
    partition: Option<String>,
    /// Time limit of each run, such as 4:00:00.
    #[arg(long, value_name = "TIME", requires = "on")]
    time: Option<String>,
    /// Resources for each run, such as gpu:1.
    #[arg(long, value_name = "LIST", requires = "on")]
    gres: Option<String>,
    /// Another option of sbatch, such as --mem=4G; may be given several times.
    #[arg(long, value_name = "LINE", requires = "on", allow_hyphen_values = true)]
    sbatch: Vec<String>,
}

impl SlurmArgs {
    pub(crate) fn options(&self) -> Options {
        Options {
            partition: self.partition.clone(),
            time: self.time.clone(),
            gres: self.gres.clone(),
            lines: self.sbatch.clone(),
            jobs: None,
        }
    }
}
