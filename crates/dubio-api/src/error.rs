//! Why a command could not do what it was asked.

use std::error::Error as Source;
use std::io;

use dubio_predictions::guarded;

/// Why a command could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A predictions file that cannot be used.
    #[error(transparent)]
    Predictions(#[from] dubio_predictions::Error),
    /// A data set that is not there or not whole.
    #[error(transparent)]
    Data(#[from] dubio_data::Error),
    /// Mistakes in a suite, each with its place.
    #[error(transparent)]
    Suite(#[from] dubio_bench::mistakes::Mistakes),
    /// A suite that cannot be planned.
    #[error(transparent)]
    Plan(#[from] dubio_bench::plan::Error),
    /// A GPU that cannot be used.
    #[error(transparent)]
    Gpu(#[from] dubio_bench::gpu_memory::GpuError),
    /// Slurm does not take the runs.
    #[error(transparent)]
    Slurm(#[from] dubio_bench::slurm::Error),
    /// Somebody asked for a stop.
    #[error("stopped with {finished} of {all} runs finished; the same command resumes")]
    Stopped {
        /// Runs that are finished.
        finished: usize,
        /// Runs that were planned.
        all: usize,
    },
    /// Somebody asked for a stop while Slurm has the runs.
    #[error("no longer watching, with {finished} of {all} runs finished; jobs {jobs} continue")]
    Unwatched {
        /// Runs that are finished.
        finished: usize,
        /// Runs that were planned.
        all: usize,
        /// Numbers of the jobs.
        jobs: String,
    },
    /// What was asked for does not go together, or not with what the files hold; what is wrong, where, what to do.
    #[error("{0}")]
    Unfit(String),
    /// A file or folder that cannot be read or written.
    #[error("{what}: {why}")]
    File {
        /// What was tried, with the file's name.
        what: String,
        /// What the system or the format says.
        why: String,
    },
    /// The folder of runs cannot be read or written.
    #[error(transparent)]
    Store(#[from] io::Error),
}

impl Error {
    /// An error that says what was tried with a file, and why it failed.
    pub(crate) fn file<E: Source>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |error| {
            let (mut why, mut below) = (error.to_string(), error.source());
            while let Some(source) = below {
                why = format!("{why}: {source}");
                below = source.source();
            }
            Self::File { what, why }
        }
    }
}

/// Does work that reads predictions, and fails where a file is cut short or damaged in the meantime.
pub(crate) fn guard<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    guarded(work).unwrap_or_else(|failed| Err(failed.into()))
}

/// Like [`guard`], on a thread of the pool: a thread outside it sleeps and is woken for every loop that the pool
/// does, which takes longer than many of these loops.
pub(crate) fn guard_in_pool<T: Send>(
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    guard(|| rayon::scope(|_| work()))
}

/// Returns the error that something does not go together.
macro_rules! refuse {
    ($($part:tt)*) => {
        return Err($crate::Error::Unfit(format!($($part)*)))
    };
}
pub(crate) use refuse;
