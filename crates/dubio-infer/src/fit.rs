//! The one loop: steps, draws, checkpoints, clocks, progress, and what to do when a loss is no number.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use dubio_nn::engine::Vector;
use dubio_random::stream::Stream;

use crate::checkpoint::{Folder, Progress, Resumed};
use crate::clip::clip;
use crate::clock::Clock;
use crate::error::Error;
use crate::methods::Method;
use crate::posterior::{Point, Posterior, Record};
use crate::rule::{Keep, Memory, Rule, Step};
use crate::target::Target;

/// Somebody who looks on, and may ask for a stop.
pub trait Watch: Sync {
    /// Called after every epoch and draw.
    fn seen(&self, _now: &Now) {}
    /// Whether to stop. Asked before every step and draw.
    fn stops(&self) -> bool {
        false
    }
}

/// Nobody looks on.
pub struct Unwatched;

impl Watch for Unwatched {}

/// How far a chain is.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Which member.
    pub member: usize,
    /// Epochs and draws done.
    pub done: usize,
    /// Epochs and draws in all.
    pub total: usize,
    /// Mean loss of the last epoch.
    pub loss: Option<f64>,
    /// Samples so far.
    pub samples: usize,
}

/// Where and how often to write checkpoints.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    /// Folder for them.
    pub folder: PathBuf,
    /// Least time between two.
    pub every: Duration,
    /// What is being done, in words that differ when the result would: data, network, settings.
    pub identity: String,
}

/// How a fit is watched and kept.
pub struct Options<'a> {
    /// Who looks on.
    pub watch: &'a dyn Watch,
    /// Where checkpoints go, if anywhere.
    pub checkpoints: Option<Checkpoints>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { watch: &Unwatched, checkpoints: None }
    }
}

/// A fit that could not be finished, and what it had by then.
pub struct Unfinished<P> {
    /// Why.
    pub error: Error,
    /// What was done so far.
    pub so_far: P,
}

impl<P> fmt::Debug for Unfinished<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unfinished").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<P> fmt::Display for Unfinished<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<P> std::error::Error for Unfinished<P> {}

/// What came of a fit: all of it, or what there was when it had to end.
pub type Outcome<P, Q> = Result<P, Box<Unfinished<Q>>>;

/// Runs a method on a target, its noise from `stream`. With checkpoints a fit that was killed goes
/// on where it was and ends with the same bytes.
pub fn fit<T: Target>(
    method: &Method,
    target: &mut T,
    stream: &Stream,
    member: usize,
    options: &Options<'_>,
) -> Outcome<Posterior<T::Vector>, Posterior<T::Vector>> {
    let mut chain = Chain::new(method, target, stream, member, options);
    let result = chain.run();
    let noise = method.noise();
    let report = chain.rule.report();
    let Progress { seconds, losses, .. } = chain.progress;
    let record = Record { seconds, losses, report };
    let posterior = Posterior { points: chain.points, noise, records: vec![record] };
    match result {
        Ok(()) => Ok(posterior),
        Err(error) => Err(Box::new(Unfinished { error, so_far: posterior })),
    }
}

struct Chain<'a, T: Target> {
    method: &'a Method,
    rule: Box<dyn Rule<T::Vector>>,
    target: &'a mut T,
    stream: Stream,
    member: usize,
    options: &'a Options<'a>,
    theta: T::Vector,
    gradient: T::Vector,
    points: Vec<Point<T::Vector>>,
    progress: Progress,
    folder: Option<Folder>,
    saved: Instant,
    clock: Clock,
}

impl<'a, T: Target> Chain<'a, T> {
    fn new(
        method: &'a Method,
        target: &'a mut T,
        stream: &Stream,
        member: usize,
        options: &'a Options<'a>,
    ) -> Self {
        let theta = target.start();
        Self {
            method,
            rule: method.rule(&theta),
            gradient: theta.clone(),
            theta,
            target,
            stream: stream.clone(),
            member,
            options,
            points: Vec::new(),
            progress: Progress::default(),
            folder: None,
            saved: Instant::now(),
            clock: Clock::start(),
        }
    }

    fn run(&mut self) -> Result<(), Error> {
        self.method.check()?;
        self.resume()?;
        let result = self.epochs().and_then(|()| self.draws());
        // A stop is no fault of the chain: what it has done is kept to the last step.
        let sound = matches!(result, Ok(()) | Err(Error::Stopped));
        let kept = if sound { self.save() } else { Ok(()) };
        self.tick();
        result.and(kept)
    }

    fn resume(&mut self) -> Result<(), Error> {
        let Some(checkpoints) = &self.options.checkpoints else { return Ok(()) };
        let path = checkpoints.folder.join(format!("member-{}", self.member));
        let folder = Folder::new(&path, checkpoints.identity.clone())?;
        if let Some(Resumed { progress, statistics, points }) =
            folder.load(&mut self.theta, self.rule.memory())?
        {
            self.progress = progress;
            self.target.set_statistics(&statistics);
            self.points = points;
        }
        self.folder = Some(folder);
        Ok(())
    }

    fn epochs(&mut self) -> Result<(), Error> {
        while self.progress.epoch < self.rule.epochs() {
            let batches = self.target.batches();
            while self.progress.batch < batches {
                self.may_go_on()?;
                self.step(batches)?;
                self.progress.batch += 1;
                self.save_when_due()?;
            }
            let epoch = self.progress.epoch;
            self.progress.losses.push(self.progress.loss_sum / batches as f64);
            self.progress.loss_sum = 0.0;
            if self.rule.after_epoch(epoch, &self.theta) == Keep::Sample {
                let statistics = self.target.statistics();
                self.keep(Point { theta: self.theta.clone(), statistics })?;
            }
            self.progress.epoch += 1;
            self.progress.batch = 0;
            self.save_when_due()?;
            self.tell();
        }
        Ok(())
    }

    fn step(&mut self, batches: usize) -> Result<(), Error> {
        let Progress { epoch, batch, .. } = self.progress;
        let loss = self.target.batch(&self.theta, epoch, batch, &mut self.gradient);
        let examples = self.target.examples();
        let decay = self.target.prior_precision() / examples as f64;
        let at = Step { epoch, batch, batches, examples, decay, stream: &self.stream };
        if !loss.is_finite() {
            let rate = self.rule.rate(&at);
            return Err(Error::Diverged { loss, epoch: epoch + 1, step: batch + 1, rate });
        }
        if self.target.is_steep() {
            clip(&mut self.gradient, self.rule.is_noisy(&at));
        }
        self.rule.step(&mut self.theta, &self.gradient, &at);
        self.progress.loss_sum += loss;
        Ok(())
    }

    fn draws(&mut self) -> Result<(), Error> {
        while self.progress.draw < self.rule.draws() {
            self.may_go_on()?;
            let index = self.progress.draw;
            let stream = self.stream.child("draws").nth(index);
            let drawn = self.rule.draw(&mut self.theta, self.target, index, &stream)?;
            for theta in drawn {
                self.target.refresh(&theta);
                let statistics = self.target.statistics();
                self.keep(Point { theta, statistics })?;
            }
            self.progress.draw += 1;
            self.save_when_due()?;
            self.tell();
        }
        Ok(())
    }

    fn keep(&mut self, point: Point<T::Vector>) -> Result<(), Error> {
        // The loss of a step tells of the steps before it; nothing else tells of the last one.
        let size = point.theta.dot(&point.theta) + point.statistics.iter().sum::<f64>();
        if !size.is_finite() {
            let Progress { epoch, draw, .. } = self.progress;
            let after = match epoch < self.rule.epochs() {
                true => format!("epoch {}", epoch + 1),
                false => format!("draw {}", draw + 1),
            };
            return Err(Error::NotFinite { after });
        }
        if let Some(folder) = &self.folder {
            folder.save_point(self.points.len(), &point)?;
        }
        self.points.push(point);
        self.progress.points = self.points.len();
        Ok(())
    }

    fn may_go_on(&self) -> Result<(), Error> {
        if self.options.watch.stops() { Err(Error::Stopped) } else { Ok(()) }
    }

    fn save_when_due(&mut self) -> Result<(), Error> {
        let due =
            self.options.checkpoints.as_ref().is_some_and(|c| self.saved.elapsed() >= c.every);
        if due { self.save() } else { Ok(()) }
    }

    fn save(&mut self) -> Result<(), Error> {
        self.tick();
        let Some(folder) = &self.folder else { return Ok(()) };
        let statistics = self.target.statistics();
        let memory: Memory<'_, T::Vector> = self.rule.memory();
        folder.save(&self.progress, &self.theta, &statistics, memory)?;
        self.saved = Instant::now();
        Ok(())
    }

    /// Moves the time since the last call into the record.
    fn tick(&mut self) {
        self.progress.seconds += self.clock.lap();
    }

    fn tell(&self) {
        let Progress { epoch, draw, ref losses, .. } = self.progress;
        self.options.watch.seen(&Now {
            member: self.member,
            done: epoch + draw,
            total: self.rule.epochs() + self.rule.draws(),
            loss: losses.last().copied(),
            samples: self.points.len(),
        });
    }
}
