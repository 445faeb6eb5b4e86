//! The threads that calls work on, kept between calls: starting them costs more than a score of a small file.

use std::mem;
use std::sync::{Mutex, PoisonError};

use pyo3::Python;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// A pool that nobody uses, and the process whose threads it has.
struct Idle {
    pool: ThreadPool,
    threads: usize,
    process: u32,
}

/// Locked only by a thread that has the GIL. A process forks with the GIL, so its child never finds this locked
/// by a thread that it does not have.
static IDLE: Mutex<Option<Idle>> = Mutex::new(None);

/// A pool that no other call uses: calls of two Python threads never wait for each other.
pub(crate) fn take(_: Python<'_>, threads: usize) -> Result<ThreadPool, ThreadPoolBuildError> {
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).take();
    match idle {
        // A forked process has none of its parent's threads; dropping the pool would wake them.
        Some(idle) if idle.process != std::process::id() => mem::forget(idle),
        Some(idle) if idle.threads == threads => return Ok(idle.pool),
        _ => {}
    }
    ThreadPoolBuilder::new().num_threads(threads).build()
}

/// Keeps a pool whose work has ended, for the next call.
pub(crate) fn give_back(_: Python<'_>, pool: ThreadPool, threads: usize) {
    let idle = Idle { pool, threads, process: std::process::id() };
    *IDLE.lock().unwrap_or_else(PoisonError::into_inner) = Some(idle);
}
