//! Runs on this machine: a process for each, so that one that dies takes nothing with it.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dubio_nn::Device;

use crate::executor::{Ended, STOP, StudyProgress, exit};
use crate::plan::PlannedRun;
use crate::store::{Cause, Failure, Store};
use crate::{gpu_memory, memory};

/// Runs on this machine, each by a process of `program work`, which reads the planned run from its
/// standard input, and perhaps [`STOP`] after it, and writes fractions of its work done, a line each, to its
/// standard output.
pub struct Local<'a> {
    /// Where results go.
    pub store: &'a Store,
    /// The program, `dubio` itself.
    pub program: &'a Path,
    /// Arguments of every worker.
    pub arguments: &'a [&'a str],
    /// Most runs at a time.
    pub jobs: usize,
    /// Bytes that all runs under way may take together, of main memory and of GPU memory; one run may always be
    /// under way.
    pub room: [Option<u64>; 2],
}

/// A setting of NVIDIA's driver: the number of queues that the streams of a program share, 8 by default. Every
/// member of an ensemble has a stream, and ten small ones are faster with a queue each.
pub(crate) const QUEUES: [&str; 2] = ["CUDA_DEVICE_MAX_CONNECTIONS", "32"];

/// How often `stop` is checked.
const LOOK: Duration = Duration::from_millis(100);

/// Which runs are still to do, and how many bytes those under way take.
struct Queue {
    waiting: VecDeque<usize>,
    under_way: usize,
    /// Of main memory and of GPU memory.
    taken_bytes: [u64; 2],
}

impl Queue {
    fn enter(&mut self, bytes: [u64; 2]) {
        self.under_way += 1;
        self.taken_bytes = [0, 1].map(|kind| self.taken_bytes[kind] + bytes[kind]);
    }

    fn leave(&mut self, bytes: [u64; 2]) {
        self.under_way -= 1;
        self.taken_bytes = [0, 1].map(|kind| self.taken_bytes[kind] - bytes[kind]);
    }

    fn has_room(&self, room: [Option<u64>; 2], bytes: [u64; 2]) -> bool {
        let fits = |kind: usize| match room[kind] {
            Some(room) => bytes[kind] <= room.saturating_sub(self.taken_bytes[kind]),
            None => true,
        };
        fits(0) && fits(1)
    }
}

impl Local<'_> {
    /// Does all runs; when `stop` is raised, those under way stop and the others do not begin.
    pub fn run_all(
        &self,
        runs: &[&PlannedRun],
        stop: &AtomicBool,
        progress: &dyn StudyProgress,
    ) -> io::Result<Vec<Ended>> {
        let waiting = (0..runs.len()).collect();
        let queue = Mutex::new(Queue { waiting, under_way: 0, taken_bytes: [0; 2] });
        let ended_one = Condvar::new();
        let needs = |run: &&PlannedRun| [memory::estimate(run), gpu_memory::estimate(run)];
        let bytes: Vec<[u64; 2]> = runs.iter().map(needs).collect();
        let results: Mutex<Vec<Ended>> = Mutex::new(vec![Ended::Stopped; runs.len()]);
        let failed: Mutex<Option<io::Error>> = Mutex::new(None);
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.min(runs.len()) {
                scope.spawn(|| {
                    while let Some(index) = self.next(&queue, &ended_one, &bytes, stop) {
                        let run = runs[index];
                        progress.began(run);
                        match self.one(run, stop, progress) {
                            Ok(how) => {
                                progress.ended(run, &how);
                                lock(&results)[index] = how;
                            }
                            Err(error) => {
                                lock(&failed).get_or_insert(error);
                                stop.store(true, Ordering::Relaxed);
                            }
                        }
                        let mut queue = lock(&queue);
                        queue.leave(bytes[index]);
                        ended_one.notify_all();
                    }
                });
            }
        });
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// The next run that there is room for; waits for one to end where there is none.
    fn next(
        &self,
        queue: &Mutex<Queue>,
        ended_one: &Condvar,
        bytes: &[[u64; 2]],
        stop: &AtomicBool,
    ) -> Option<usize> {
        let mut queue = lock(queue);
        loop {
            if stop.load(Ordering::Relaxed) || queue.waiting.is_empty() {
                return None;
            }
            let fits =
                |&index: &usize| queue.under_way == 0 || queue.has_room(self.room, bytes[index]);
            if let Some(position) = queue.waiting.iter().position(fits) {
                let index = queue.waiting.remove(position)?;
                queue.enter(bytes[index]);
                return Some(index);
            }
            queue = ended_one.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Threads of a run. On a processor, runs go side by side with one thread each. On a GPU there are fewer runs
    /// than cores, and the processor corrupts and augments images for them.
    fn threads(&self, run: &PlannedRun) -> usize {
        match run.settings.device {
            Device::Cpu => 1,
            _ => std::thread::available_parallelism().map_or(1, usize::from).div_ceil(self.jobs),
        }
    }

    fn one(
        &self,
        run: &PlannedRun,
        stop: &AtomicBool,
        progress: &dyn StudyProgress,
    ) -> io::Result<Ended> {
        let planned = serde_json::to_vec(run)?;
        let mut command = Command::new(self.program);
        let [queues, most] = QUEUES;
        if std::env::var_os(queues).is_none() {
            command.env(queues, most);
        }
        let mut child = command
            .arg("work")
            .args(self.arguments)
            .env("RAYON_NUM_THREADS", self.threads(run).to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let none = || io::Error::other("a worker has no input or output");
        let mut input = child.stdin.take().ok_or_else(none)?;
        let mut errors = child.stderr.take().ok_or_else(none)?;
        let output = child.stdout.take().ok_or_else(none)?;
        let complaints = std::thread::scope(|scope| -> io::Result<String> {
            let (silence, ended) = mpsc::channel::<()>();
            scope.spawn(move || {
                // A worker that has died is noticed by its exit status, not by a write that fails.
                let _ = input.write_all(&planned);
                while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                    if stop.load(Ordering::Relaxed) {
                        let _ = input.write_all(STOP.as_bytes());
                        return;
                    }
                }
            });
            let complaints = scope.spawn(move || io::read_to_string(&mut errors));
            for line in BufReader::new(output).lines() {
                if let Ok(fraction) = line?.trim().parse() {
                    progress.progressed(run, fraction);
                }
            }
            drop(silence);
            Ok(complaints.join().ok().and_then(Result::ok).unwrap_or_default())
        })?;
        let status = child.wait()?;
        let how = ended(run, self.store, status, &complaints)?;
        if how == Ended::Finished && !complaints.trim().is_empty() {
            progress.note(complaints.trim());
        }
        Ok(how)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
            // The worker could not report it: it crashed, or the system killed it for its memory.
            let how = code.map_or_else(|| status.to_string(), |code| format!("exit code {code}"));
            let error = format!("the worker died ({how}) {}", complaints.trim());
            let failure = Failure::new(run, error.trim().to_string(), Cause::Machine);
            store.fail(&failure)?;
            Ok(Ended::Failed(failure.error))
        }
    }
}

#[cfg(test)]
mod tests {
    use dubio_progress::Progress;

    use super::*;
    use crate::plan::plan;
    use crate::suite::Suite;

    #[test]
    fn a_run_begins_when_there_is_room_and_one_alone_always_may() {
        let (store, stop) = (Store::new("".as_ref()), AtomicBool::new(false));
        let program = Path::new("");
        let local =
            Local { store: &store, program, arguments: &[], jobs: 4, room: [Some(10), None] };
        let bytes = [6, 5, 30, 4].map(|bytes| [bytes, 0]);
        let queue = Queue { waiting: (0..4).collect(), under_way: 0, taken_bytes: [0; 2] };
        let (queue, ended_one) = (Mutex::new(queue), Condvar::new());
        let next = || local.next(&queue, &ended_one, &bytes, &stop);
        assert_eq!(next(), Some(0));
        assert_eq!(next(), Some(3), "the first that fits beside it");
        let end = |index: usize| {
            lock(&queue).leave(bytes[index]);
        };
        end(0);
        assert_eq!(next(), Some(1));
        end(3);
        end(1);
        assert_eq!(next(), Some(2), "larger than all room, and alone");
        assert_eq!(next(), None, "nothing is left");
    }

    /// Fractions that were reported.
    #[derive(Default)]
    struct Reported(Mutex<Vec<f64>>);

    impl Progress for Reported {}
    impl StudyProgress for Reported {
        fn progressed(&self, _: &PlannedRun, fraction: f64) {
            lock(&self.0).push(fraction);
        }
    }

    /// The worker here is `printenv`, whose number is taken for a fraction.
    #[test]
    fn a_worker_has_more_queues_than_the_driver_gives_it() {
        let home = tempfile::tempdir().expect("a folder");
        let text = "data = [\"digits\"]\nnetworks = [\"mlp\"]\n[[methods]]\nmethod = \"sgd\"\n";
        let suite = Suite::parse("s.toml", text).unwrap_or_else(|e| panic!("{e}"));
        let planned = plan(&suite, Path::new(""), &|_, _| None).unwrap_or_else(|e| panic!("{e}"));
        let (store, program) = (Store::new(home.path()), Path::new("printenv"));
        let local =
            Local { store: &store, program, arguments: &QUEUES[..1], jobs: 1, room: [None; 2] };
        let (reported, stop) = (Reported::default(), AtomicBool::new(false));
        let ended = local.one(&planned.runs[0], &stop, &reported).expect("it started");
        assert!(matches!(ended, Ended::Failed(_)), "`work` is no variable: {ended:?}");
        let expected = std::env::var(QUEUES[0]).unwrap_or(QUEUES[1].into());
        assert_eq!(*lock(&reported.0), [expected.parse::<f64>().expect("a number")]);
    }

    #[test]
    fn nothing_begins_after_a_stop() {
        let (store, stop) = (Store::new("".as_ref()), AtomicBool::new(true));
        let program = Path::new("");
        let local = Local { store: &store, program, arguments: &[], jobs: 1, room: [None; 2] };
        let queue = Mutex::new(Queue { waiting: [0].into(), under_way: 0, taken_bytes: [0; 2] });
        assert_eq!(local.next(&queue, &Condvar::new(), &[[1, 0]], &stop), None);
    }
}
