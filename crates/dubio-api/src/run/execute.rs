//! Does runs, on this machine or on a cluster.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use dubio_bench::Device;
use dubio_bench::executor::{Ended, StudyProgress};
use dubio_bench::gpu_memory::free_bytes;
use dubio_bench::local::Local;
use dubio_bench::memory;
use dubio_bench::plan::PlannedRun;
use dubio_bench::slurm::{self, Options, Submitted, Worker};
use dubio_bench::store::Store;

use super::{ROOM, Settings};
use crate::Error;

/// Does these runs, and says how each ended.
pub(super) fn execute(
    settings: &Settings,
    to_do: &[&PlannedRun],
    store: &Store,
    data: &Path,
    stop: &AtomicBool,
    watch: &dyn StudyProgress,
) -> Result<Vec<Ended>, Error> {
    let on_gpu = to_do.iter().any(|run| run.settings.device != Device::Cpu);
    if let Some(options) = &settings.slurm {
        let gpu = on_gpu.then(|| "gpu:1".to_string());
        let gres = options.gres.clone().or(gpu);
        let options = Options { jobs: settings.jobs, gres, ..options.clone() };
        return on_slurm(settings, &options, to_do, store, data, stop, watch);
    }
    let runs = &settings.places.runs;
    let arguments = ["--runs", path_text(runs)?, "--dir", path_text(data)?];
    let usual = || if on_gpu { cores().min(GPU_JOBS) } else { cores() };
    let local = Local {
        store,
        program: &settings.program,
        arguments: &arguments,
        jobs: settings.jobs.map_or_else(usual, usize::from),
        room: [
            // A user who says how many runs knows how much they take; a GPU's memory is a limit in any case.
            if settings.jobs.is_some() { None } else { room() },
            if on_gpu { Some(free_bytes()?) } else { None },
        ],
    };
    let cannot = |e| Error::Unfit(format!("cannot run in {}: {e}; {ROOM}", runs.display()));
    local.run_all(to_do, stop, watch).map_err(cannot)
}

/// Most runs that share a GPU, unless the user says how many.
const GPU_JOBS: usize = 4;

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Memory for runs: a tenth stays free, because what a run takes is an estimate.
fn room() -> Option<u64> {
    memory::available_bytes().map(|bytes| bytes / 10 * 9)
}

fn path_text(path: &Path) -> Result<&str, Error> {
    let what = || Error::Unfit(format!("{}: the name is not valid text", path.display()));
    path.to_str().ok_or_else(what)
}

/// Submits what Slurm does not have, and waits for all of it.
fn on_slurm(
    settings: &Settings,
    options: &Options,
    to_do: &[&PlannedRun],
    store: &Store,
    data: &Path,
    stop: &AtomicBool,
    watch: &dyn StudyProgress,
) -> Result<Vec<Ended>, Error> {
    if to_do.is_empty() {
        return Ok(Vec::new());
    }
    let worker = Worker { program: &settings.program, data };
    let submitted = slurm::submit(to_do, store, worker, options, watch)?;
    let jobs = job_numbers(&submitted);
    watch.note(&format!(
        "logs are in {}; Ctrl-C leaves the jobs running",
        store.folder().join(".slurm").display()
    ));
    let ended = slurm::watch(to_do, &submitted, store, stop, watch)?;
    if stop.load(Ordering::Relaxed) {
        let finished = ended.iter().filter(|how| **how == Ended::Finished).count();
        return Err(Error::Unwatched { finished, all: to_do.len(), jobs });
    }
    Ok(ended)
}

fn job_numbers(submitted: &[Result<Submitted, String>]) -> String {
    let mut jobs: Vec<&str> = submitted.iter().flatten().map(|task| &task.job[..]).collect();
    jobs.dedup();
    jobs.join(" ")
}
