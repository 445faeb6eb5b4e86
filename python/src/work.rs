//! Work on threads of its own, while Python's thread waits, reports progress and listens for Ctrl-C.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dubio_progress::Progress;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::pool;

/// How often signals are checked and progress is reported.
const TICK: Duration = Duration::from_millis(50);
/// How long to wait for work that can stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the work says, until Python fetches it.
#[derive(Default)]
pub(crate) struct Told {
    stage: Mutex<&'static str>,
    total: AtomicUsize,
    done: AtomicUsize,
    notes: Mutex<Vec<String>>,
    pub(crate) stop: AtomicBool,
}

impl Progress for Told {
    fn start(&self, stage: &'static str, total: usize) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        self.total.store(total, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
    }
    fn advance(&self, pieces: usize) {
        self.done.fetch_add(pieces, Ordering::Relaxed);
    }
    fn note(&self, text: &str) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_string());
    }
    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Told {
    /// Calls `tell(stage, done, total, notes)`.
    fn tell(&self, py: Python<'_>, tell: &Py<PyAny>) -> PyResult<()> {
        let stage = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let notes = std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner));
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        tell.call1(py, (stage, done, total, notes)).map(|_| ())
    }
}

/// Runs work without the GIL on a pool of threads. Ctrl-C raises `KeyboardInterrupt`: work that asks whether to
/// stop is waited for, other work is left to end by itself, and its pool with it.
pub(crate) fn supervised<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    tell: &Py<PyAny>,
    work: impl FnOnce(&Arc<Told>) -> T + Send + 'static,
) -> PyResult<T> {
    let pool = pool::take(py, threads).map_err(|error| {
        PyRuntimeError::new_err(format!("cannot start {threads} threads: {error}"))
    })?;
    let told = Arc::new(Told::default());
    let (sender, receiver) = channel();
    let own = Arc::clone(&told);
    pool.spawn(move || {
        let done = catch_unwind(AssertUnwindSafe(|| work(&own))).map_err(|p| words(&*p));
        drop(sender.send(done)); // nobody listens after Ctrl-C
    });
    let done = await_result(py, receiver, &told, tell)?;
    pool::give_back(py, pool, threads);
    told.tell(py, tell)?;
    done.map_err(|what| PyRuntimeError::new_err(format!("this is a bug: {what}")))
}

/// Waits for a result; reports progress and checks for signals meanwhile.
fn await_result<T: Send>(
    py: Python<'_>,
    mut receiver: Receiver<T>,
    told: &Told,
    tell: &Py<PyAny>,
) -> PyResult<T> {
    loop {
        let waiting = &mut receiver; // borrowed mutably, so that it may be used without the GIL
        match py.detach(move || waiting.recv_timeout(TICK)) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "this is a bug: the work ended without a result",
                ));
            }
            Err(RecvTimeoutError::Timeout) => {
                let asked = py.check_signals().and_then(|()| told.tell(py, tell));
                if let Err(error) = asked {
                    told.stop.store(true, Ordering::Relaxed);
                    let (waiting, patience) = (&mut receiver, wait(told));
                    drop(py.detach(move || waiting.recv_timeout(patience)));
                    return Err(error);
                }
            }
        }
    }
}

/// Training and prediction ask whether to stop; scoring is left to end by itself.
fn wait(told: &Told) -> Duration {
    let stage = *told.stage.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(stage, "training" | "predicting" | "runs") { PATIENCE } else { Duration::ZERO }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or("a panic".to_string())
}
