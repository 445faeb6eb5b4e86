//! Waits for runs that Slurm has.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Submitted;
use super::fate::Fate;
use super::queue::{Queue, Queued};
use crate::executor::{Ended, StudyProgress};
use crate::plan::PlannedRun;
use crate::store::{Cause, Failure, Store};

/// How often a task must be found gone before it is believed: a shared folder may show a file later
/// than Slurm shows that the task ended.
const LOOKS: u32 = 3;
/// The same for a task that says it finished.
const PATIENT_LOOKS: u32 = 30;

/// Waits until every run has ended, or until `stop`, which leaves them with Slurm.
pub fn watch(
    runs: &[&PlannedRun],
    submitted: &[Result<Submitted, String>],
    store: &Store,
    stop: &AtomicBool,
    progress: &dyn StudyProgress,
) -> io::Result<Vec<Ended>> {
    let mut watcher = Watcher { store, progress, told: HashSet::new() };
    let pairs = runs.iter().copied().zip(submitted);
    let mut all: Vec<Watched<'_>> = pairs
        .map(|(run, task)| Watched { run, task, began: false, gone: 0, ended: None })
        .collect();
    let began = Instant::now();
    loop {
        watcher.look(&mut all)?;
        if all.iter().all(|one| one.ended.is_some()) || stop.load(Ordering::Relaxed) {
            let ended = all.into_iter().map(|one| one.ended.unwrap_or(Ended::Stopped));
            return Ok(ended.collect());
        }
        // The controller serves everybody; what takes hours is not asked for every second.
        let pause = (began.elapsed() / 30).clamp(Duration::from_secs(1), Duration::from_secs(15));
        wait(pause, stop);
    }
}

fn wait(pause: Duration, stop: &AtomicBool) {
    let began = Instant::now();
    while began.elapsed() < pause && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
    }
}

struct Watched<'a> {
    run: &'a PlannedRun,
    task: &'a Result<Submitted, String>,
    began: bool,
    /// Looks at which Slurm no longer had it.
    gone: u32,
    ended: Option<Ended>,
}

struct Watcher<'a> {
    store: &'a Store,
    progress: &'a dyn StudyProgress,
    /// What was said once and is not said again.
    told: HashSet<String>,
}

impl Watcher<'_> {
    fn look(&mut self, all: &mut [Watched<'_>]) -> io::Result<()> {
        let queue = Queue::ask();
        // Opening the folder makes a network file system look again.
        drop(fs::read_dir(self.store.folder()));
        let queue = match queue {
            Ok(queue) => queue,
            Err(error) => {
                self.tell(format!("{error}; still watching"));
                return Ok(());
            }
        };
        for one in all.iter_mut().filter(|one| one.ended.is_none()) {
            one.ended = self.how(one, &queue)?;
            if let Some(how) = &one.ended {
                self.progress.ended(one.run, how);
            }
        }
        self.tell_reasons(all, &queue);
        Ok(())
    }

    /// How a run ended, if it did.
    fn how(&mut self, one: &mut Watched<'_>, queue: &Queue) -> io::Result<Option<Ended>> {
        if self.store.is_finished(&one.run.id) {
            return Ok(Some(Ended::Finished));
        }
        let task = match one.task {
            Ok(task) => task,
            Err(why) => return Ok(Some(Ended::Failed(why.clone()))),
        };
        if let Some(queued) = queue.get(&task.batch.name, task.index) {
            one.gone = 0;
            self.under_way(one, task, queued);
            return Ok(None);
        }
        if let Some(failure) = self.store.failure(&one.run.id) {
            return Ok(Some(Ended::Failed(failure.error)));
        }
        one.gone += 1;
        if one.gone < LOOKS { Ok(None) } else { self.gone(one, task) }
    }

    fn under_way(&mut self, one: &mut Watched<'_>, task: &Submitted, queued: &Queued) {
        if queued.runs() && !one.began {
            one.began = true;
            self.progress.began(one.run);
        } else if queued.waits() && one.began {
            one.began = false;
            let (label, seed) = (&one.run.label, one.run.settings.seed);
            self.progress.note(&format!(
                "{label}, seed {seed} was requeued; it resumes from its checkpoint"
            ));
        }
        if let Some(fraction) = task.batch.progress(task.index).filter(|_| one.began) {
            self.progress.progressed(one.run, fraction);
        }
    }

    /// How a run ended whose task left the queue without a result or a failure.
    fn gone(&self, one: &Watched<'_>, task: &Submitted) -> io::Result<Option<Ended>> {
        let id = &one.run.id;
        if self.store.claim(id)?.is_none() {
            return Ok(Some(Ended::Taken));
        }
        let fate = Fate::of(task);
        if fate.is_completed() && one.gone < PATIENT_LOOKS {
            return Ok(None);
        }
        let error = fate.told(task);
        self.store.fail(&Failure::new(one.run, error.clone(), Cause::Machine))?;
        Ok(Some(Ended::Failed(error)))
    }

    /// Tells why runs wait, each reason once.
    fn tell_reasons(&mut self, all: &[Watched<'_>], queue: &Queue) {
        for one in all.iter().filter(|one| one.ended.is_none()) {
            let Ok(task) = one.task else { continue };
            let Some(queued) = queue.get(&task.batch.name, task.index) else { continue };
            // Waiting for the array's own limit is what `--jobs` asked for.
            let expected = ["None", "JobArrayTaskLimit"].contains(&&queued.reason[..]);
            if queued.waits() && !expected {
                let Queued { job, reason, .. } = queued;
                self.tell(format!("job {job} waits: {reason}{}", remedy(reason, job)));
            }
        }
    }

    fn tell(&mut self, text: String) {
        if !self.told.contains(&text) {
            self.progress.note(&text);
            self.told.insert(text);
        }
    }
}

/// What to do about a reason that does not go away by itself.
fn remedy(reason: &str, job: &str) -> String {
    match reason {
        "PartitionTimeLimit" => {
            format!("; scancel {job}, then give less --time or another --partition")
        }
        _ if reason.contains("Held") || reason.contains("held") => {
            format!("; release it with: scontrol release {job}")
        }
        "DependencyNeverSatisfied" | "BadConstraints" => {
            format!("; it will not begin: scancel {job}")
        }
        _ => String::new(),
    }
}
