//! Runs on this machine: a process for each, so that one that dies takes nothing with it.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::executor::{Ended, Listener, exit};
use crate::plan::PlannedRun;
use crate::store::{Failure, Store};

/// Does runs, `jobs` at a time, each by a process of `program work`, which reads the planned run from
/// its standard input and writes shares of progress, a line each, to its standard output.
pub fn run_all(
    runs: &[&PlannedRun],
    store: &Store,
    program: &Path,
    arguments: &[&str],
    jobs: usize,
    stop: &AtomicBool,
    listener: &dyn Listener,
) -> io::Result<Vec<Ended>> {
    let queue: Mutex<VecDeque<usize>> = Mutex::new((0..runs.len()).collect());
    let results: Mutex<Vec<Ended>> = Mutex::new(vec![Ended::Stopped; runs.len()]);
    let failed: Mutex<Option<io::Error>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(runs.len()) {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().ok().and_then(|mut queue| queue.pop_front());
                    let Some(index) = next.filter(|_| !stop.load(Ordering::Relaxed)) else {
                        return;
                    };
                    let run = runs[index];
                    listener.began(run);
                    match one(run, store, program, arguments, listener) {
                        Ok(how) => {
                            listener.ended(run, &how);
                            if let Ok(mut results) = results.lock() {
                                results[index] = how;
                            }
                        }
                        Err(error) => {
                            if let Ok(mut failed) = failed.lock() {
                                failed.get_or_insert(error);
                            }
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    match failed.into_inner().ok().flatten() {
        Some(error) => Err(error),
        None => Ok(results.into_inner().unwrap_or_default()),
    }
}

fn one(
    run: &PlannedRun,
    store: &Store,
    program: &Path,
    arguments: &[&str],
    listener: &dyn Listener,
) -> io::Result<Ended> {
    let mut child = Command::new(program)
        .arg("work")
        .args(arguments)
        .env("RAYON_NUM_THREADS", "1") // runs are side by side; inside, one thread each
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // A worker that dies at once is told by its exit status.
        let _ = input.write_all(&serde_json::to_vec(run)?);
    }
    let complaints = child
        .stderr
        .take()
        .map(|errors| std::thread::spawn(move || io::read_to_string(errors).unwrap_or_default()));
    for line in
        BufReader::new(child.stdout.take().ok_or_else(|| io::Error::other("no output"))?).lines()
    {
        if let Ok(share) = line?.trim().parse() {
            listener.progressed(run, share);
        }
    }
    let status = wait(child)?;
    let complaints = complaints.and_then(|thread| thread.join().ok()).unwrap_or_default();
    ended(run, store, status, &complaints)
}

fn wait(mut child: Child) -> io::Result<ExitStatus> {
    child.wait()
}

fn ended(
    run: &PlannedRun,
    store: &Store,
    status: ExitStatus,
    complaints: &str,
) -> io::Result<Ended> {
    match status.code() {
        Some(exit::FINISHED) => Ok(Ended::Finished),
        Some(exit::STOPPED) => Ok(Ended::Stopped),
        Some(exit::TAKEN) => Ok(Ended::Taken),
        Some(exit::FAILED) => {
            let why = store.failure(&run.id).map_or_else(|| complaints.trim().into(), |f| f.error);
            Ok(Ended::Failed(why))
        }
        code => {
            // It could not say so itself: a crash, or the system took it for its memory.
            let how = code.map_or_else(|| status.to_string(), |code| format!("exit code {code}"));
            let error = format!("the worker died ({how}) {}", complaints.trim());
            let failure = Failure {
                id: run.id.clone(),
                label: run.label.clone(),
                settings: run.settings.clone(),
                error: error.trim().to_string(),
            };
            store.fail(&failure)?;
            Ok(Ended::Failed(failure.error))
        }
    }
}
