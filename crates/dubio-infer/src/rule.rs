//! What a method is: a rule, not a program. The loop that calls it is in [`crate::fit`].

use dubio_nn::engine::Vector;
use dubio_random::stream::Stream;

use crate::error::Error;
use crate::target::Target;

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
    /// The prior's share in the gradient of `U / N`: `theta` times this. Weight decay.
    pub decay: f64,
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

/// Whether the parameters at the end of an epoch belong to the posterior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// They are a sample.
    Sample,
    /// They are only on the way.
    Nothing,
}

impl Keep {
    /// A sample when `condition` holds.
    pub fn when(condition: bool) -> Self {
        if condition { Self::Sample } else { Self::Nothing }
    }
}

/// A method at work: epochs of mini-batch steps, then draws.
pub trait Rule<V: Vector>: Send {
    /// Epochs of mini-batch steps.
    fn epochs(&self) -> usize;
    /// Draws after them.
    fn draws(&self) -> usize {
        0
    }
    /// The learning rate of a step.
    fn rate(&self, at: &Step<'_>) -> f64;
    /// Whether a step adds the noise that samples.
    fn is_noisy(&self, _at: &Step<'_>) -> bool {
        false
    }
    /// One step; `gradient` is that of the mean loss, without the prior.
    fn step(&mut self, theta: &mut V, gradient: &V, at: &Step<'_>);
    /// What to make of the parameters after an epoch.
    fn after_epoch(&mut self, epoch: usize, theta: &V) -> Keep;
    /// One draw, from the chain's state `theta`: samples that it gives, if any.
    fn draw(
        &mut self,
        _theta: &mut V,
        _target: &mut dyn Target<Vector = V>,
        _index: usize,
        _stream: &Stream,
    ) -> Result<Vec<V>, Error> {
        Ok(Vec::new())
    }
    /// All that the rule carries from one step to the next, for checkpoints.
    fn memory(&mut self) -> Memory<'_, V>;
    /// Numbers that tell how it went: acceptance rates, step sizes.
    fn report(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// The parts of a rule's state by name, to be written and to be read back.
pub struct Memory<'a, V> {
    /// Lists of vectors.
    pub vectors: Vec<(&'static str, &'a mut Vec<V>)>,
    /// Lists of numbers.
    pub numbers: Vec<(&'static str, &'a mut Vec<f64>)>,
}

impl<'a, V> Memory<'a, V> {
    /// Of a rule that carries nothing.
    pub fn none() -> Self {
        Self { vectors: Vec::new(), numbers: Vec::new() }
    }

    /// With a list of vectors.
    pub fn vectors(mut self, name: &'static str, list: &'a mut Vec<V>) -> Self {
        self.vectors.push((name, list));
        self
    }

    /// With a list of numbers.
    pub fn numbers(mut self, name: &'static str, list: &'a mut Vec<f64>) -> Self {
        self.numbers.push((name, list));
        self
    }

    /// With all that another memory holds.
    pub fn and(mut self, other: Self) -> Self {
        self.vectors.extend(other.vectors);
        self.numbers.extend(other.numbers);
        self
    }
}
