//! `dubio work`: one planned run, in a process of its own.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result};
use dubio_bench::executor::{self, exit};
use dubio_bench::plan::PlannedRun;
use dubio_bench::store::Failure;
use dubio_bench::work;
use dubio_progress::Progress;

use crate::folders::Folders;
use crate::interrupt::stopper;
use crate::terminal::say;

/// Do one planned run, read from standard input.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folders: Folders,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let code = |code: i32| Ok(ExitCode::from(code as u8));
    let stop = stopper()?;
    let run = PlannedRun::read(&mut io::stdin()).context("a planned run, as JSON")?;
    let await_stop = || {
        let stopped =
            |line: io::Result<String>| line.is_ok_and(|line| line == executor::STOP.trim());
        if io::stdin().lines().any(stopped) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    thread::Builder::new().spawn(await_stop).context("cannot start a thread")?;
    let folders = args.folders.plain();
    let store = folders.store();
    let Some(_claim) = store.claim(&run.id)? else { return code(exit::TAKEN) };
    if store.is_finished(&run.id) {
        return code(exit::FINISHED);
    }
    let worker = Worker { stop, done: Mutex::default() };
    let data = folders.data([&run.settings.data[..]])?;
    let mut result = work::work(&run, &store, &data, &worker);
    if let Err(work::Error::Infer(damaged @ dubio_infer::Error::Checkpoint { .. })) = &result {
        say!("{}, seed {} starts over: {damaged}", run.label, run.settings.seed);
        store.forget_checkpoints(&run.id)?;
        result = work::work(&run, &store, &data, &worker);
    }
    match result {
        Ok(()) => code(exit::FINISHED),
        Err(work::Error::Stopped) => code(exit::STOPPED),
        Err(error) => {
            let failure = Failure::new(&run, error.to_string(), error.cause());
            // Where even this cannot be written, the message is all there is.
            if let Err(second) = store.fail(&failure) {
                say!("{error}; {second}");
            }
            code(exit::FAILED)
        }
    }
}

/// Tells progress on standard output.
struct Worker {
    stop: &'static AtomicBool,
    /// Pieces of work done, and in all.
    done: Mutex<(usize, usize)>,
}

impl Progress for Worker {
    fn start(&self, _: &'static str, total: usize) {
        let Ok(mut done) = self.done.lock() else { return };
        *done = (0, total);
    }
    fn advance(&self, pieces: usize) {
        let Ok(mut done) = self.done.lock() else { return };
        done.0 += pieces;
        let fraction = done.0 as f64 / done.1 as f64;
        // Nobody listens any more when the parent is gone; the run goes on.
        let _ = writeln!(io::stdout(), "{fraction:.4}");
    }
    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
