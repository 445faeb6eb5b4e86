//! The loop: steps, draws, checkpoints, clocks, progress, and what to do when a loss is not finite.

use std::time::Instant;

use dubio_nn::engine::{Point, Vector};
use dubio_random::stream::Stream;

use super::Options;
use crate::checkpoint::{Folder, Position, Resumed};
use crate::clip;
use crate::clock::Clock;
use crate::error::Error;
use crate::rule::{Draw, Keep, MiniBatch, Rule, Step};
use crate::target::{BatchName, Target};

/// Steps after which losses are asked for, so that a chain that has diverged does not go on for long.
const LOOK: usize = 64;

/// A method at work on a target.
pub(super) struct Chain<'a, T: Target> {
    pub(super) rule: Box<dyn Rule<T::Vector>>,
    target: &'a mut T,
    stream: Stream,
    member: usize,
    options: &'a Options<'a>,
    /// The points that move.
    points: Vec<Point<T::Vector>>,
    gradient: T::Vector,
    pub(super) samples: Vec<Point<T::Vector>>,
    pub(super) position: Position,
    /// For each step whose losses the target still keeps, how often it was evaluated.
    evaluations: Vec<usize>,
    folder: Option<Folder>,
    saved: Instant,
    clock: Clock,
}

impl<'a, T: Target> Chain<'a, T> {
    pub(super) fn new(
        mut rule: Box<dyn Rule<T::Vector>>,
        target: &'a mut T,
        stream: &Stream,
        member: usize,
        options: &'a Options<'a>,
    ) -> Self {
        let count = rule.steps().map_or(1, |steps| steps.points());
        let points: Vec<_> = (0..count).map(|index| target.start(index)).collect();
        Self {
            gradient: points[0].theta.clone(),
            rule,
            points,
            target,
            stream: stream.clone(),
            member,
            options,
            samples: Vec::new(),
            position: Position::default(),
            evaluations: Vec::new(),
            folder: None,
            saved: Instant::now(),
            clock: Clock::start(),
        }
    }

    fn epochs(&mut self) -> usize {
        self.rule.steps().map_or(0, |steps| steps.epochs())
    }

    fn draws(&mut self) -> usize {
        self.rule.draws().map_or(0, |draws| draws.count())
    }

    pub(super) fn run(&mut self) -> Result<(), Error> {
        self.rule.begin(self.target, &self.stream)?;
        self.resume()?;
        self.options.progress.start("training", self.epochs() + self.draws());
        self.options.progress.advance(self.position.epoch + self.position.draw);
        let result = self.all_epochs().and_then(|()| self.all_draws());
        // A stop is not a failure: what the chain has done is saved up to the last step.
        let sound = matches!(result, Ok(()) | Err(Error::Stopped));
        let kept = if sound {
            self.save()
        } else {
            self.tick();
            Ok(())
        };
        result.and(kept)
    }

    fn resume(&mut self) -> Result<(), Error> {
        let Some(checkpoints) = &self.options.checkpoints else { return Ok(()) };
        let path = checkpoints.folder.join(format!("member-{}", self.member));
        let folder = Folder::new(&path, checkpoints.identity.clone())?;
        if let Some(Resumed { position, samples }) =
            folder.load(&mut self.points, self.rule.memory())?
        {
            self.position = position;
            self.samples = samples;
        }
        self.folder = Some(folder);
        Ok(())
    }

    fn all_epochs(&mut self) -> Result<(), Error> {
        let batches = self.target.batches();
        while self.position.epoch < self.epochs() {
            while self.position.batch < batches {
                self.may_go_on()?;
                self.step(batches);
                self.position.batch += 1;
                if self.evaluations.len() == LOOK {
                    self.settle()?;
                }
                self.save_when_due()?;
            }
            self.settle()?;
            let epoch = self.position.epoch;
            self.position.losses.push(self.position.loss_sum / batches as f64);
            self.position.loss_sum = 0.0;
            let steps = self.rule.steps().expect("it has epochs");
            let kept = match steps.after_epoch(epoch, &self.points) {
                Keep::All => self.points.clone(),
                Keep::Only(index) => vec![self.points[index].clone()],
                Keep::Nothing => Vec::new(),
            };
            for mut point in kept {
                // The running statistics of the last batches belong to points that the chain has left.
                if self.target.has_statistics() {
                    point.statistics = self.target.statistics(&point.theta);
                }
                self.keep(point, || format!("epoch {}", epoch + 1))?;
            }
            self.position.epoch += 1;
            self.position.batch = 0;
            self.save_when_due()?;
            self.options.progress.advance(1);
        }
        Ok(())
    }

    fn step(&mut self, batches: usize) {
        let Position { epoch, batch, .. } = self.position;
        let examples = self.target.examples();
        let at = Step { epoch, batch, batches, examples, stream: &self.stream };
        let Some(steps) = self.rule.steps() else { return };
        let longest = self.target.is_steep().then(|| clip::longest(steps.is_noisy(&at)));
        let name = BatchName { epoch, batch };
        let mut batch = MiniBatch::new(self.target, name, longest, &mut self.gradient);
        steps.step(&mut self.points, &mut batch, &at);
        self.evaluations.push(batch.evaluations);
    }

    /// Fetches the losses of the last steps. The loss of a step is the mean over its evaluations.
    fn settle(&mut self) -> Result<(), Error> {
        if self.evaluations.is_empty() {
            return Ok(());
        }
        let mut losses = self.target.losses().into_iter();
        let first = self.position.batch - self.evaluations.len();
        for (index, evaluations) in self.evaluations.drain(..).enumerate() {
            let of_step: Vec<f64> = losses.by_ref().take(evaluations).collect();
            let loss = of_step.iter().sum::<f64>() / of_step.len().max(1) as f64;
            if !loss.is_finite() {
                let (epoch, batch) = (self.position.epoch, first + index);
                let (batches, examples) = (self.target.batches(), self.target.examples());
                let at = Step { epoch, batch, batches, examples, stream: &self.stream };
                let rate = self.rule.steps().map_or(0.0, |steps| steps.rate(&at));
                return Err(Error::Diverged { loss, epoch: epoch + 1, step: batch + 1, rate });
            }
            self.position.loss_sum += loss;
        }
        Ok(())
    }

    fn all_draws(&mut self) -> Result<(), Error> {
        while self.position.draw < self.draws() {
            let index = self.position.draw;
            let stream = &self.stream.child("draws").nth(index);
            let at = Draw { index, stream, progress: self.options.progress };
            at.may_go_on()?;
            let Some(draws) = self.rule.draws() else { break };
            for theta in draws.draw(&mut self.points, self.target, &at)? {
                let statistics = self.target.statistics(&theta);
                self.keep(Point { theta, statistics }, || format!("draw {}", index + 1))?;
            }
            self.position.draw += 1;
            self.save_when_due()?;
            self.options.progress.advance(1);
        }
        Ok(())
    }

    fn keep(
        &mut self,
        point: Point<T::Vector>,
        after: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        // The loss of a step shows whether the steps before it diverged; only this check covers the last step.
        let Point { theta, statistics } = &point;
        if !(theta.dot(theta) + statistics.dot(statistics)).is_finite() {
            return Err(Error::NotFinite { after: after() });
        }
        if let Some(folder) = &self.folder {
            folder.save_point(self.samples.len(), &point)?;
        }
        self.samples.push(point);
        self.position.samples = self.samples.len();
        Ok(())
    }

    fn may_go_on(&self) -> Result<(), Error> {
        if self.options.progress.should_stop() { Err(Error::Stopped) } else { Ok(()) }
    }

    fn save_when_due(&mut self) -> Result<(), Error> {
        let due =
            self.options.checkpoints.as_ref().is_some_and(|c| self.saved.elapsed() >= c.every);
        if due { self.save() } else { Ok(()) }
    }

    fn save(&mut self) -> Result<(), Error> {
        self.settle()?;
        self.tick();
        let Some(folder) = &self.folder else { return Ok(()) };
        folder.save(&self.position, &self.points, self.rule.memory())?;
        self.saved = Instant::now();
        Ok(())
    }

    /// Moves the time since the last call into the record.
    fn tick(&mut self) {
        self.position.seconds += self.clock.lap();
    }
}
