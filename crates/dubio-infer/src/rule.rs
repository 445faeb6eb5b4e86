//! What a method is: a rule, not a program. The loop that calls it is in [`crate::fit`].

use std::sync::Arc;

use dubio_nn::engine::{Point, Seed, Vector, Visited};
use dubio_nn::matrix::Matrix;
use dubio_progress::Progress;
use dubio_random::stream::Stream;

use crate::error::Error;
use crate::likelihood::Likelihood;
use crate::memory::Memory;
use crate::prior::Prior;
use crate::target::{BatchName, Perturbed, Target};

/// A mini-batch step's place in training.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Epochs before this one.
    pub epoch: usize,
    /// Mini-batches before this one in its epoch.
    pub batch: usize,
    /// Mini-batches in an epoch.
    pub batches: usize,
    /// Training examples, `N`.
    pub examples: usize,
    /// Stream of the chain.
    pub stream: &'a Stream,
}

impl Step<'_> {
    /// Steps before this one.
    pub fn number(&self) -> usize {
        self.epoch * self.batches + self.batch
    }

    /// This step's own stream of noise.
    pub fn noise(&self) -> Stream {
        self.stream.child("noise").nth(self.number())
    }
}

/// Which of the moving points belong to the posterior at the end of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Every one is a sample.
    All,
    /// This one is a sample.
    Only(usize),
    /// None is a sample.
    Nothing,
}

impl Keep {
    /// All when `condition` holds.
    pub fn when(condition: bool) -> Self {
        if condition { Self::All } else { Self::Nothing }
    }
}

/// A method at work: epochs of mini-batch steps, then draws; either may be missing.
pub trait Rule<V: Vector>: Send {
    /// Prepares the rule from its target and the chain's stream, before the first step and before its memory is
    /// restored after a kill.
    fn begin(
        &mut self,
        _target: &mut dyn Target<Vector = V>,
        _stream: &Stream,
    ) -> Result<(), Error> {
        Ok(())
    }
    /// Its mini-batch steps.
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        None
    }
    /// Its draws after them.
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        None
    }
    /// All that the rule carries from one step to the next, for checkpoints.
    fn memory(&mut self) -> Memory<'_, V>;
    /// Numbers that tell how it went: acceptance rates, step sizes.
    fn report(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
    /// What a user must know before trusting the samples, in words that say what to do.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
    /// Vectors that its posterior has besides samples: factors of a covariance.
    fn factors(&mut self) -> Vec<V> {
        Vec::new()
    }
}

/// Epochs of mini-batch steps.
pub trait Steps<V: Vector> {
    /// How many epochs.
    fn epochs(&self) -> usize;
    /// Points that move together.
    fn points(&self) -> usize {
        1
    }
    /// The learning rate of a step.
    fn rate(&self, at: &Step<'_>) -> f64;
    /// Whether a step adds noise in order to sample.
    fn is_noisy(&self, _at: &Step<'_>) -> bool {
        false
    }
    /// One step of the points.
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>);
    /// Which points become samples after an epoch.
    fn after_epoch(&mut self, _epoch: usize, _points: &[Point<V>]) -> Keep {
        Keep::Nothing
    }
}

/// A draw's place after training.
#[derive(Clone, Copy)]
pub struct Draw<'a> {
    /// Draws before this one.
    pub index: usize,
    /// Its own stream of noise.
    pub stream: &'a Stream,
    /// Who may ask it to stop.
    pub progress: &'a dyn Progress,
}

impl Draw<'_> {
    /// An error once a stop was asked for. A draw that passes over the data several times asks before each pass. If it
    /// then ends, it must leave points and memory such that the same draw, made again, gives the same bytes.
    pub fn may_go_on(&self) -> Result<(), Error> {
        if self.progress.should_stop() { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// Draws after training.
pub trait Draws<V: Vector> {
    /// How many draws.
    fn count(&self) -> usize;
    /// One draw, from where the chain is: samples that it gives, if any.
    fn draw(
        &mut self,
        points: &mut [Point<V>],
        target: &mut dyn Target<Vector = V>,
        at: &Draw<'_>,
    ) -> Result<Vec<V>, Error>;
}

/// A mini-batch that can be evaluated at any point, any number of times.
pub struct MiniBatch<'a, V: Vector> {
    target: &'a mut dyn Target<Vector = V>,
    prior: Arc<dyn Prior<V>>,
    name: BatchName,
    /// The longest gradient of the mean loss that is passed on.
    longest: Option<f64>,
    room: &'a mut V,
    /// How often it was evaluated.
    pub(crate) evaluations: usize,
}

impl<'a, V: Vector> MiniBatch<'a, V> {
    pub(crate) fn new(
        target: &'a mut dyn Target<Vector = V>,
        name: BatchName,
        longest: Option<f64>,
        room: &'a mut V,
    ) -> Self {
        let prior = target.prior();
        Self { target, prior, name, longest, room, evaluations: 0 }
    }

    /// The gradient of `U / N` at a point, whose running statistics move.
    pub fn at(&mut self, point: &mut Point<V>) -> Gradient<'_, V> {
        self.target.gradient(point, self.name, self.room);
        self.evaluations += 1;
        if let Some(longest) = self.longest {
            self.room.clip(longest);
        }
        let examples = self.target.examples() as f64;
        Gradient { likelihood: self.room, prior: &*self.prior, examples }
    }

    /// Gradients of the mean loss at several points, together where the engine can; without the prior.
    pub fn gradients(&mut self, points: &mut [Point<V>], gradients: &mut [V]) {
        self.target.gradients(points, self.name, gradients);
        self.evaluations += points.len();
        if let Some(longest) = self.longest {
            gradients.iter_mut().for_each(|gradient| gradient.clip(longest));
        }
    }

    /// Gradients of the mean loss where layers are perturbed, with respect to spreads and to means; without the prior,
    /// and not clipped.
    pub fn perturbed(&mut self, at: Perturbed<'_, V>, gradients: [&mut V; 2]) {
        self.target.perturbed_gradient(at, self.name, gradients);
        self.evaluations += 1;
    }

    /// Clips a gradient of the mean loss, if those may be arbitrarily long.
    pub fn clip(&self, gradient: &mut V) {
        if let Some(longest) = self.longest {
            gradient.clip(longest);
        }
    }

    /// The prior.
    pub fn prior(&self) -> &dyn Prior<V> {
        &*self.prior
    }

    /// What the outputs stand for; `None` where there is no network.
    pub fn likelihood(&self) -> Option<Arc<dyn Likelihood>> {
        self.target.likelihood()
    }

    /// The weights of the hidden layers that move, as they lie in the vector.
    pub fn hidden_layers(&self) -> Vec<Matrix> {
        self.target.hidden_layers()
    }

    /// Outputs at a point as it predicts, `[examples, outputs]`. Waits.
    pub fn outputs(&mut self, point: &Point<V>) -> Vec<f64> {
        self.target.outputs(point, self.name)
    }

    /// Gradient of `sum_k seed_k outputs_k`, summed over the examples: for losses of the rule's own.
    pub fn seeded_gradient(&mut self, point: &mut Point<V>, seed: Seed<'_>, gradient: &mut V) {
        self.target.seeded_gradient(point, self.name, seed, gradient);
    }

    /// Shows what curvature is made of, layer by layer.
    pub fn visit(
        &mut self,
        point: &Point<V>,
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, V>),
    ) {
        self.target.visit(point, self.name, seed, visitor);
    }
}

/// The gradient of `U / N` in two parts: of the mean loss, and of the prior.
pub struct Gradient<'a, V> {
    /// That of the mean loss.
    pub likelihood: &'a mut V,
    prior: &'a dyn Prior<V>,
    examples: f64,
}

impl<'a, V: Vector> Gradient<'a, V> {
    /// From the gradient of a mean loss over this many examples, and a prior.
    pub fn new(likelihood: &'a mut V, prior: &'a dyn Prior<V>, examples: usize) -> Self {
        Self { likelihood, prior, examples: examples as f64 }
    }

    /// Whether the prior's gradient is 0 everywhere.
    pub fn is_flat(&self) -> bool {
        self.prior.is_flat()
    }

    /// The gradient of the mean loss and `c`, if the prior's part is `c` times the parameters themselves.
    pub fn decay(&mut self) -> Option<(&mut V, f64)> {
        self.prior.decay(self.examples).map(|decay| (&mut *self.likelihood, decay))
    }

    /// `to += a` times the prior's part.
    pub fn add_prior(&self, a: f64, theta: &V, to: &mut V) {
        self.prior.add_gradient(a, self.examples, theta, to);
    }

    /// Both parts in one vector, which replaces the first. What moves `theta` must be summed before it is added to it:
    /// by itself, the prior's part, divided by `N`, changes a number of 32 bits by less than its last digit.
    pub fn total(self, theta: &V) -> &'a mut V {
        if !self.is_flat() {
            self.prior.add_gradient(1.0, self.examples, theta, self.likelihood);
        }
        self.likelihood
    }
}
