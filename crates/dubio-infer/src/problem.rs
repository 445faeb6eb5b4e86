//! A network and its training data as a target of inference.

use std::sync::Arc;

use dubio_data::dataset::Pictures;
use dubio_nn::engine::Statistics;
use dubio_nn::engine::{Batch, Engine, Slice, Vector};
use dubio_nn::real::Real;
use dubio_random::stream::Stream;
use dubio_random::uniform::{below_32, shuffle};
use rayon::prelude::*;

use crate::augment::Augmentation;
use crate::error::Error;
use crate::target::Target;
use crate::training::{Gathered, Training, TrainingAnswers, TrainingInputs};

/// Where a chain begins.
pub enum Start<V> {
    /// At random numbers, as each layer has them.
    Fresh,
    /// At given parameters and running statistics.
    Warm {
        /// The parameters.
        theta: V,
        /// The running statistics.
        statistics: Vec<f64>,
    },
}

/// A network on an engine, with data to learn from. Batches are the pieces of a new random order in
/// every epoch; the last one may be smaller.
pub struct Problem<E: Engine> {
    engine: E,
    training: Arc<Training<E::Number>>,
    /// What stands for the inputs, when it is not they that the network reads.
    features: Option<Vec<E::Number>>,
    batch: usize,
    prior_precision: f64,
    start: Start<E::Vector>,
    stream: Stream,
    /// The order of an epoch.
    order: (usize, Vec<u32>),
    inputs: Vec<E::Number>,
    answers: Gathered,
    /// Room for a sum of gradients.
    sum: Option<E::Vector>,
}

/// How examples are looked at where all are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    /// As they are.
    Plain,
    /// With the random changes of training.
    AsTrained,
}

/// Examples at a time where all are looked at.
const CHUNK: usize = 1000;

impl<E: Engine<Number: Real>> Problem<E> {
    /// Batches of `batch` examples, a prior `Normal(0, 1 / prior_precision)`, and a stream for the
    /// start, the orders and the noise.
    pub fn new(
        engine: E,
        training: Arc<Training<E::Number>>,
        batch: usize,
        prior_precision: f64,
        start: Start<E::Vector>,
        stream: &Stream,
    ) -> Result<Self, Error> {
        let examples = training.len();
        if batch > examples {
            return Err(Error::BatchTooLarge { batch, examples });
        }
        let mut problem = Self {
            engine,
            training,
            features: None,
            batch,
            prior_precision,
            start,
            stream: stream.clone(),
            order: (usize::MAX, Vec::new()),
            inputs: Vec::new(),
            answers: Gathered::default(),
            sum: None,
        };
        if let Start::Warm { statistics, .. } = &problem.start {
            problem.engine.set_statistics(statistics);
        }
        Ok(problem)
    }

    /// With what another network gives for the training inputs, one after the other, in their place.
    pub fn reading(self, features: Vec<E::Number>) -> Self {
        Self { features: Some(features), ..self }
    }

    /// The examples that the engine must have room for at a time.
    pub fn capacity(batch: usize, examples: usize) -> usize {
        batch.max(CHUNK.min(examples))
    }

    fn shuffle(&mut self, epoch: usize) {
        if self.order.0 == epoch {
            return;
        }
        let mut generator = self.stream.child("order").nth(epoch).generator();
        let mut order: Vec<u32> = (0..self.training.len() as u32).collect();
        shuffle(&mut order, |n| below_32(&mut generator, n));
        self.order = (epoch, order);
    }

    /// Calls `f` with chunks of all examples in the order of the file.
    fn each_chunk(&mut self, view: View, mut f: impl FnMut(&mut E, Batch<'_, E::Number>)) {
        let all: Vec<u32> = (0..self.training.len() as u32).collect();
        for rows in all.chunks(CHUNK) {
            let answers = self.answers.rows(&self.training.answers, rows);
            let inputs = match examples(&self.training, self.features.as_deref()) {
                Examples::Ready(all, size) => &all[rows[0] as usize * size..][..rows.len() * size],
                Examples::Augmented(pictures, augment, size) => {
                    self.inputs.resize(rows.len() * size, E::Number::of(0.0));
                    let changes: &[_] = if view == View::AsTrained { augment } else { &[] };
                    let stream = self.stream.child("chunks").nth(rows[0] as usize);
                    let scaling = &self.training.scaling;
                    scaling.pictures(pictures, rows, changes, &stream, &mut self.inputs);
                    &self.inputs
                }
            };
            f(&mut self.engine, Batch { inputs, answers });
        }
    }
}

/// What the network reads, and how many numbers of it for an example.
enum Examples<'a, T> {
    Ready(&'a [T], usize),
    Augmented(&'a Pictures, &'a [Augmentation], usize),
}

fn examples<'a, T: Real>(training: &'a Training<T>, features: Option<&'a [T]>) -> Examples<'a, T> {
    let size = training.scaling.shape().size();
    match (features, &training.inputs) {
        (Some(features), _) => Examples::Ready(features, features.len() / training.len()),
        (None, TrainingInputs::Ready(all)) => Examples::Ready(all, size),
        (None, TrainingInputs::Augmented { pictures, augment }) => {
            Examples::Augmented(pictures, augment, size)
        }
    }
}

/// Copies rows of `size` numbers together. They lie far apart, so waiting for memory is most of it, and
/// several threads wait better than one.
fn gather<T: Real>(all: &[T], rows: &[u32], size: usize, out: &mut [T]) {
    let copy = |rows: &[u32], out: &mut [T]| {
        for (&row, out) in rows.iter().zip(out.chunks_exact_mut(size)) {
            out.copy_from_slice(&all[row as usize * size..][..size]);
        }
    };
    if out.len() < 1 << 15 {
        return copy(rows, out);
    }
    let pieces = rows.par_chunks(16).zip(out.par_chunks_mut(16 * size));
    pieces.for_each(|(rows, out)| copy(rows, out));
}

impl<E: Engine<Number: Real>> Target for Problem<E> {
    type Vector = E::Vector;

    fn examples(&self) -> usize {
        self.training.len()
    }

    fn prior_precision(&self) -> f64 {
        self.prior_precision
    }

    fn is_steep(&self) -> bool {
        matches!(self.training.answers, TrainingAnswers::Targets(_))
    }

    fn batches(&self) -> usize {
        self.training.len().div_ceil(self.batch)
    }

    fn start(&self) -> E::Vector {
        match &self.start {
            Start::Fresh => self.engine.start(&self.stream.child("start")),
            Start::Warm { theta, .. } => theta.clone(),
        }
    }

    fn slices(&self) -> Vec<Slice> {
        self.engine.slices()
    }

    fn batch(
        &mut self,
        theta: &E::Vector,
        epoch: usize,
        batch: usize,
        gradient: &mut E::Vector,
    ) -> f64 {
        self.shuffle(epoch);
        let last = self.training.len().min((batch + 1) * self.batch);
        let rows = &self.order.1[batch * self.batch..last];
        let noise = self.stream.child("layers").nth(epoch * self.batches() + batch);
        match examples(&self.training, self.features.as_deref()) {
            Examples::Ready(all, size) => {
                self.inputs.resize(rows.len() * size, E::Number::of(0.0));
                gather(all, rows, size, &mut self.inputs);
            }
            Examples::Augmented(pictures, augment, size) => {
                self.inputs.resize(rows.len() * size, E::Number::of(0.0));
                let (scaling, stream) = (&self.training.scaling, noise.child("augment"));
                scaling.pictures(pictures, rows, augment, &stream, &mut self.inputs);
            }
        }
        let answers = self.answers.rows(&self.training.answers, rows);
        let data = Batch { inputs: &self.inputs, answers };
        self.engine.loss_and_gradient(theta, data, Some(&noise), gradient)
    }

    fn whole(&mut self, theta: &E::Vector, gradient: &mut E::Vector) -> f64 {
        let mut sum = self.sum.take().unwrap_or_else(|| gradient.clone());
        sum.fill(0.0);
        let n = self.training.len() as f64;
        let mut loss = 0.0;
        self.each_chunk(View::Plain, |engine, batch| {
            let share = batch.answers.len() as f64 / n;
            loss += share * engine.loss_and_gradient(theta, batch, None, gradient);
            sum.axpy(share, gradient);
        });
        gradient.copy_from(&sum);
        self.sum = Some(sum);
        loss
    }

    fn whole_loss(&mut self, theta: &E::Vector) -> f64 {
        self.refresh(theta);
        let n = self.training.len() as f64;
        let mut loss = 0.0;
        self.each_chunk(View::Plain, |engine, batch| {
            loss += batch.answers.len() as f64 / n * engine.loss(theta, batch);
        });
        loss
    }

    fn statistics(&self) -> Vec<f64> {
        self.engine.statistics()
    }

    fn set_statistics(&mut self, statistics: &[f64]) {
        self.engine.set_statistics(statistics);
    }

    fn refresh(&mut self, theta: &E::Vector) {
        if self.engine.statistics().is_empty() {
            return;
        }
        // The mean over all chunks, each by its size: momentum b / (n + b).
        let mut seen = 0.0;
        self.each_chunk(View::AsTrained, |engine, batch| {
            let here = batch.answers.len() as f64;
            seen += here;
            engine.observe(theta, batch.inputs, Statistics::Batch { momentum: here / seen });
        });
    }
}
