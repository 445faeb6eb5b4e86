//! The whole contract between inference and networks.
//!
//! To inference a network is a function of one flat vector: loss and gradient at `theta` on a
//! batch, predictions at `theta`. Where the vector lives is the engine's business; methods move it
//! only by the operations below, so that another engine can stand beside this one.

use std::ops::Range;

use dubio_random::stream::Stream;

use crate::loss::Answers;

/// A vector that an engine holds.
pub trait Vector: Clone + Send + 'static {
    /// Numbers in it.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// All numbers become `value`.
    fn fill(&mut self, value: f64);
    /// `self = other`.
    fn copy_from(&mut self, other: &Self);
    /// `self = a self`.
    fn scale(&mut self, a: f64);
    /// `self = self + a x`.
    fn axpy(&mut self, a: f64, x: &Self);
    /// `self = a self + b x`, in one pass.
    fn combine(&mut self, a: f64, b: f64, x: &Self);
    /// `self = self + a x y`, number by number.
    fn add_product(&mut self, a: f64, x: &Self, y: &Self);
    /// `self = self + a x / (sqrt(y) + floor)`, number by number; no `y` is below 0.
    fn add_over_root(&mut self, a: f64, x: &Self, y: &Self, floor: f64);
    /// `self = self + a x sqrt(y)`, number by number; `y` below 0 counts as 0.
    fn add_times_root(&mut self, a: f64, x: &Self, y: &Self);
    /// `sum_i self_i other_i`, in f64.
    fn dot(&self, other: &Self) -> f64;
    /// Adds `std` times independent standard normal numbers from a stream.
    fn add_noise(&mut self, std: f64, stream: &Stream);
    /// A stretch, as a vector of its own.
    fn part(&self, range: Range<usize>) -> Self;
    /// Overwrites the stretch from `start` on by a whole vector.
    fn put(&mut self, start: usize, part: &Self);
    /// Bytes that a number takes, 4 or 8.
    fn bytes_per_number(&self) -> usize;
    /// A copy of a stretch.
    fn read(&self, range: Range<usize>) -> Vec<f64>;
    /// Overwrites a stretch.
    fn write(&mut self, start: usize, values: &[f64]);
}

/// A layer's stretch of the flat vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Name of the layer and of the parameter: `layer1.0.conv1.weight`.
    pub name: String,
    /// Where it lies.
    pub range: Range<usize>,
}

/// A batch of examples: inputs `[examples, height, width, channels]`, and what they should give.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, T> {
    /// Row after row.
    pub inputs: &'a [T],
    /// One for each example.
    pub answers: Answers<'a>,
}

/// Where batch normalisation takes its means and variances from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistics {
    /// From the batch, which also moves the running ones by this fraction of the way.
    Batch {
        /// Fraction of the new batch in the running statistics; PyTorch's `momentum`, 0.1 there.
        momentum: f64,
    },
    /// The running ones.
    Running,
}

/// What a gradient with respect to the inputs starts from: a factor for each output.
#[derive(Clone, Copy, Debug)]
pub enum Seed<'a> {
    /// These, `[examples, outputs]`.
    Factors(&'a [f64]),
    /// The gradient of `-weight log softmax(outputs)[label]`, each example with its own.
    CrossEntropy {
        /// One for each example.
        labels: &'a [u32],
        /// One for each example.
        weights: &'a [f64],
    },
}

/// A network on some device.
pub trait Engine {
    /// Type of a single number.
    type Number;
    /// Type of the flat vector.
    type Vector: Vector;
    /// The parameters' stretches, in their order.
    fn slices(&self) -> Vec<Slice>;
    /// A starting point.
    fn start(&self, stream: &Stream) -> Self::Vector;
    /// Numbers that the network gives for an example.
    fn outputs(&self) -> usize;
    /// Mean loss on a batch at `theta`; its gradient replaces `gradient`. `noise` is where layers
    /// with noise take theirs from.
    fn loss_and_gradient(
        &mut self,
        theta: &Self::Vector,
        batch: Batch<'_, Self::Number>,
        noise: Option<&Stream>,
        gradient: &mut Self::Vector,
    ) -> f64;
    /// Mean loss on a batch at `theta`, as it predicts: running statistics, no noise.
    fn loss(&mut self, theta: &Self::Vector, batch: Batch<'_, Self::Number>) -> f64;
    /// Outputs at `theta` for some inputs, `[examples, outputs]`, with or without noise, which is the
    /// same for all of them.
    fn predict(
        &mut self,
        theta: &Self::Vector,
        inputs: &[Self::Number],
        noise: Option<&Stream>,
        out: &mut Vec<Self::Number>,
    );
    /// Gradient with respect to the inputs, as it predicts: `out = sum_k seed_k d outputs_k / d inputs`
    /// for each example.
    fn input_gradient(
        &mut self,
        theta: &Self::Vector,
        inputs: &[Self::Number],
        noise: Option<&Stream>,
        seed: Seed<'_>,
        out: &mut [Self::Number],
    );
    /// The running statistics of normalisation.
    fn statistics(&self) -> Vec<f64>;
    /// Sets the running statistics.
    fn set_statistics(&mut self, statistics: &[f64]);
    /// Passes inputs through the network to move its running statistics.
    fn observe(&mut self, theta: &Self::Vector, inputs: &[Self::Number], statistics: Statistics);
}
