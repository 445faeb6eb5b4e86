//! A network and its training data as a target of inference.

mod perturbed;
mod target;

use std::ops::Range;
use std::sync::Arc;

use dubio_nn::engine::{Engine, Model, Point, Rows};
use dubio_nn::examples::Answers;
use dubio_nn::loss::Loss;
use dubio_nn::network::Network;
use dubio_random::stream::Stream;
use dubio_random::uniform::{below_32, shuffle};

use self::perturbed::PerturbedModel;
use crate::error::Error;
use crate::likelihood::Likelihood;
use crate::prior::Prior;
use crate::room::examples_together;
use crate::target::{BatchName, Target};

/// Where a chain begins.
pub enum Start<V> {
    /// At random numbers, drawn as each layer prescribes.
    Fresh,
    /// At given parameters and running statistics.
    Warm(Point<V>),
}

/// What there is to learn.
pub struct Task<E: Engine> {
    /// Training data, on the engine.
    pub data: E::Data,
    /// What the examples should give.
    pub answers: Answers,
    /// What the network's outputs stand for.
    pub likelihood: Arc<dyn Likelihood>,
    /// The prior over the parameters.
    pub prior: Arc<dyn Prior<E::Vector>>,
}

/// A network on an engine, with data to learn from. Batches are the pieces of a new random order in
/// every epoch; the last one may be smaller.
pub struct Problem<E: Engine> {
    engine: E,
    model: E::Model,
    /// The same network with perturbed layers, for a method that asked for it.
    perturbed: Option<PerturbedModel<E>>,
    data: E::Data,
    /// The parameters that move.
    moving: Range<usize>,
    examples: usize,
    /// How many examples are evaluated together where all of them are.
    together: usize,
    answers: Answers,
    likelihood: Arc<dyn Likelihood>,
    batch: usize,
    prior: Arc<dyn Prior<E::Vector>>,
    start: Start<E::Vector>,
    stream: Stream,
    /// Whether some layer that moves normalises over the batch.
    moves_statistics: bool,
    /// The epoch whose order the model has.
    epoch: Option<usize>,
    /// Losses of mini-batches that had to be fetched before they were asked for.
    losses: Vec<f64>,
    /// Where functions of the parameters alone are evaluated: parameters, and the running statistics that go with them.
    here: Point<E::Vector>,
    /// Room for a sum of gradients.
    sum: Option<E::Vector>,
}

impl<E: Engine> Problem<E> {
    /// Batches of `batch` examples, and a stream for the start, the orders and the noise. Parameters outside
    /// `moving` stay; `None` where all move.
    pub fn new(
        engine: &E,
        network: &Network,
        task: &Task<E>,
        batch: usize,
        moving: Option<Range<usize>>,
        start: Start<E::Vector>,
        stream: &Stream,
    ) -> Result<Self, Error> {
        let examples = task.answers.len();
        if batch > examples {
            return Err(Error::BatchTooLarge { batch, examples });
        }
        let together = examples_together(network).min(examples);
        let mut model = engine.model(network, batch.max(together));
        let loss: Arc<dyn Loss> = Arc::clone(&task.likelihood) as Arc<dyn Loss>;
        let moving = moving.unwrap_or(0..network.parameters());
        let moves_statistics = network.moves_statistics(&moving);
        model.learn(&task.data, &loss, moving.clone());
        let mut problem = Self {
            engine: engine.clone(),
            perturbed: None,
            data: task.data.clone(),
            moving,
            examples,
            together,
            answers: task.answers.clone(),
            likelihood: Arc::clone(&task.likelihood),
            batch,
            prior: Arc::clone(&task.prior),
            here: model.start(&stream.child("start")),
            model,
            start,
            stream: stream.clone(),
            moves_statistics,
            epoch: None,
            losses: Vec::new(),
            sum: None,
        };
        problem.here = problem.start(0);
        Ok(problem)
    }

    /// The stretches of the stored examples that are evaluated together.
    fn chunks(&self) -> impl Iterator<Item = Rows> + use<E> {
        let (examples, together) = (self.examples, self.together);
        (0..examples)
            .step_by(together)
            .map(move |first| Rows::Stored(first..examples.min(first + together)))
    }

    /// The rows of a mini-batch, and the stream of what is random about it.
    fn named(&mut self, name: BatchName) -> (Rows, Stream) {
        if self.epoch != Some(name.epoch) {
            let order = self.shuffled(&self.stream.child("order").nth(name.epoch));
            self.model.order(&order);
            if let Some(perturbed) = &mut self.perturbed {
                perturbed.model.order(&order);
            }
            self.epoch = Some(name.epoch);
        }
        let first = name.batch * self.batch;
        let rows = Rows::Ordered(first..self.examples.min(first + self.batch));
        let number = name.epoch * self.batches() + name.batch;
        (rows, self.stream.child("layers").nth(number))
    }

    /// All examples in a random order.
    fn shuffled(&self, stream: &Stream) -> Vec<u32> {
        let mut generator = stream.generator();
        let mut order: Vec<u32> = (0..self.examples as u32).collect();
        shuffle(&mut order, |n| below_32(&mut generator, n));
        order
    }
}
