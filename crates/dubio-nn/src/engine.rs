//! The whole contract between inference and networks.
//!
//! An [`Engine`] is a device: it holds vectors and training data, and puts networks to work. A
//! [`Model`] is a network at work: gradients at a [`Point`] on mini-batches of the data that it was handed,
//! outputs at a point. Where numbers live is the engine's business; inference moves vectors only by the
//! operations below, so that an engine on a GPU can stand beside the one for CPUs.
//!
//! A step waits for nothing: the loss of a mini-batch stays with the model until it is asked for. An operation that
//! hands numbers over to the host waits for the device, and its documentation says so: "Waits."

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use dubio_random::stream::Stream;

use crate::examples::Examples;
use crate::loss::Loss;
use crate::matrix::{self, Matrix};
use crate::network::{Network, Node};
use crate::real::Real;

/// A vector that an engine holds. The vectors of an operation have the same length, unless it says otherwise.
pub trait Vector: Clone + Debug + Send + Sync + 'static {
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
    /// `self = self + a x / y`, number by number; every `y` is above 0.
    fn add_quotient(&mut self, a: f64, x: &Self, y: &Self) {
        let mut half = self.zeros(self.len());
        half.add_over_root(1.0, x, y, 0.0);
        self.add_over_root(a, &half, y, 0.0);
    }
    /// `self = self + a x exp(y)`, number by number. An engine that does not do it itself waits.
    fn add_times_exp(&mut self, a: f64, x: &Self, y: &Self) {
        let all = 0..self.len();
        let (mut own, x, y) = (self.read(all.clone()), x.read(all.clone()), y.read(all));
        for ((own, x), y) in own.iter_mut().zip(x).zip(y) {
            *own += a * x * y.exp();
        }
        self.write(0, &own);
    }
    /// `self = self x y`: numbers in these matrices times the factors of their rows and columns, which lie as
    /// [`matrix::sides`] says. An engine that does not do it itself waits.
    fn scale_sides(&mut self, matrices: &[Matrix], factors: &Self) {
        let mut own = self.read(0..self.len());
        matrix::scale_sides(matrices, &mut own, &factors.read(0..factors.len()));
        self.write(0, &own);
    }
    /// Adds `a` times the gradient with respect to such factors, from the one with respect to the numbers that
    /// [`Self::scale_sides`] makes of `weights`. An engine that does not do it itself waits.
    fn add_side_gradients(
        &mut self,
        a: f64,
        matrices: &[Matrix],
        gradient: &Self,
        weights: &Self,
        factors: &Self,
    ) {
        let all = [gradient, weights, factors].map(|vector| vector.read(0..vector.len()));
        let mut own = self.read(0..self.len());
        matrix::add_side_gradients(&mut own, a, matrices, all.each_ref().map(|v| &v[..]));
        self.write(0, &own);
    }
    /// A step of descent with momentum, in one pass where the engine can: `g = gradient + decay self`,
    /// `velocity = momentum velocity + g`, `self = self - rate velocity`. What is left in `gradient` is undefined.
    fn descend(&mut self, velocity: &mut Self, gradient: &mut Self, by: Descent) {
        if by.decay != 0.0 {
            gradient.axpy(by.decay, self);
        }
        velocity.combine(by.momentum, 1.0, gradient);
        self.axpy(-by.rate, velocity);
    }
    /// `self = self + sum_j weights_j vectors_j`, together where the engine can.
    fn add_weighted(&mut self, weights: &[f64], vectors: &[&Self]) {
        for (weight, vector) in weights.iter().zip(vectors) {
            self.axpy(*weight, vector);
        }
    }
    /// `sum_i x_i y_i` of every two of these vectors, `[vectors, vectors]`, in f64; together where the engine can.
    /// Waits; an engine that does not do it itself waits for each pair.
    fn gram(vectors: &[&Self]) -> Vec<f64> {
        let n = vectors.len();
        let mut products = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                products[i * n + j] = vectors[i].dot(vectors[j]);
                products[j * n + i] = products[i * n + j];
            }
        }
        products
    }
    /// Shortens the vector to this length, if it is longer.
    fn clip(&mut self, length: f64);
    /// `sum_i self_i other_i`, in f64. Waits.
    fn dot(&self, other: &Self) -> f64;
    /// Adds `std` times independent standard normal numbers from a stream: numbers `4096 k` to
    /// `4096 (k + 1)` from the stream's child `k`, on every engine.
    fn add_noise(&mut self, std: f64, stream: &Stream);
    /// A stretch, as a vector of its own.
    fn part(&self, range: Range<usize>) -> Self;
    /// Overwrites the stretch from `start` on with a whole vector.
    fn put(&mut self, start: usize, part: &Self);
    /// Bytes that a number takes, 4 or 8.
    fn bytes_per_number(&self) -> usize;
    /// This many zeros, on the same device.
    fn zeros(&self, len: usize) -> Self;
    /// A copy of a stretch. Waits.
    fn read(&self, range: Range<usize>) -> Vec<f64>;
    /// Overwrites a stretch. Waits.
    fn write(&mut self, start: usize, values: &[f64]);
}

/// The factors of a step of [descent](Vector::descend).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Descent {
    /// The factor of the vector itself in the gradient.
    pub decay: f64,
    /// The factor of the velocity before.
    pub momentum: f64,
    /// The learning rate.
    pub rate: f64,
}

/// The numbers of a network: parameters and running statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Point<V> {
    /// The parameters.
    pub theta: V,
    /// The running statistics of normalisation; of length 0 where there is no such layer.
    pub statistics: V,
}

impl<V> Point<V> {
    pub(crate) fn at(&self) -> At<'_, V> {
        At { theta: &self.theta, statistics: &self.statistics }
    }
}

/// A point that stays as it is, as references to its parts.
#[derive(Debug)]
pub(crate) struct At<'a, V> {
    pub(crate) theta: &'a V,
    pub(crate) statistics: &'a V,
}

/// Which of the training examples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    /// A stretch of the epoch's order, the one that was handed over last.
    Ordered(Range<usize>),
    /// A stretch of the examples as they lie.
    Stored(Range<usize>),
}

impl Rows {
    /// How many.
    pub fn len(&self) -> usize {
        let (Self::Ordered(range) | Self::Stored(range)) = self;
        range.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A mini-batch: rows of the training examples, and the streams of what is random about them.
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    /// Which examples.
    pub rows: Rows,
    /// Where random changes of the inputs come from; `None` for inputs as they are.
    pub augment: Option<&'a Stream>,
    /// Where layers with noise take theirs from; `None` for no noise.
    pub noise: Option<&'a Stream>,
}

/// What a gradient starts from: a factor for each output.
#[derive(Clone, Copy, Debug)]
pub enum Seed<'a> {
    /// These, `[examples, outputs]`.
    Factors(&'a [f64]),
    /// The gradient of `-weight log softmax(outputs)[label]`, each example with its own label and weight.
    CrossEntropy {
        /// One for each example.
        labels: &'a [u32],
        /// One for each example.
        weights: &'a [f64],
    },
}

/// What curvature is made of: a layer's inputs, and the gradients with respect to its outputs.
#[derive(Debug)]
pub struct Visited<'a, V> {
    /// The layer in its place.
    pub node: &'a Node,
    /// `[examples, inputs]`.
    pub inputs: &'a V,
    /// `[examples, outputs]`.
    pub output_gradients: &'a V,
}

/// A device, what it holds, and the networks at work on it.
pub trait Engine: Clone + Send + Sync + 'static {
    /// Type of a single number.
    type Number: Real;
    /// Type of a vector.
    type Vector: Vector;
    /// Training examples on the device. Clones share them.
    type Data: Clone + Send + Sync;
    /// A network at work.
    type Model: Model<Self>;
    /// The same device for work beside this engine's, where it can do both at once. What this engine was asked for is
    /// done by then. Either may use what the other made after a [wait](Self::wait).
    fn beside(&self) -> Self {
        self.clone()
    }
    /// Waits until everything that was asked for is done.
    fn wait(&self) {}
    /// Free bytes of the device's own memory; `None` for a processor.
    fn free_bytes(&self) -> Option<u64> {
        None
    }
    /// These numbers on the device.
    fn vector(&self, numbers: &[Self::Number]) -> Self::Vector;
    /// Hands training examples to the device, where they stay.
    fn data(&self, examples: &Examples<Self::Number>) -> Self::Data;
    /// Puts a network to work, with room for `capacity` examples at a time.
    fn model(&self, network: &Network, capacity: usize) -> Self::Model;
}

/// A network at work on an engine.
pub trait Model<E: Engine<Model = Self>>: Send {
    /// The network.
    fn network(&self) -> &Network;
    /// A starting point, each parameter from the stream's child of its name.
    fn start(&self, stream: &Stream) -> Point<E::Vector>;
    /// Sets what it learns from, and the loss that it learns by. Parameters outside `moving` stay, and layers all of
    /// whose parameters stay normalise by their running statistics, which stay too.
    fn learn(&mut self, data: &E::Data, loss: &Arc<dyn Loss>, moving: Range<usize>);
    /// Sets the order of the examples in the epoch that begins.
    fn order(&mut self, rows: &[u32]);
    /// Gradient of the mean loss of a mini-batch at a point, whose running statistics move. The model keeps
    /// the loss.
    fn gradient(
        &mut self,
        point: &mut Point<E::Vector>,
        batch: &Batch<'_>,
        gradient: &mut E::Vector,
    );
    /// Gradients at several points on one mini-batch, together where the engine can.
    fn gradients(
        &mut self,
        points: &mut [Point<E::Vector>],
        batch: &Batch<'_>,
        gradients: &mut [E::Vector],
    ) {
        for (point, gradient) in points.iter_mut().zip(gradients) {
            self.gradient(point, batch, gradient);
        }
    }
    /// The losses kept since this was last asked, in the order of their gradients. Waits.
    fn losses(&mut self) -> Vec<f64>;
    /// Mean loss of some examples at a point as it predicts: running statistics, no noise. Waits.
    fn loss(&mut self, point: &Point<E::Vector>, batch: &Batch<'_>) -> f64;
    /// Moves running statistics by `momentum` of the way to those of some examples at `theta`.
    fn observe(
        &mut self,
        theta: &E::Vector,
        statistics: &mut E::Vector,
        batch: &Batch<'_>,
        momentum: f64,
    );
    /// Outputs at a point for some training examples as it predicts, `[examples, outputs]`. Waits.
    fn outputs(&mut self, point: &Point<E::Vector>, batch: &Batch<'_>, out: &mut Vec<E::Number>);
    /// Gradient of `sum_k seed_k outputs_k`, summed over a mini-batch, as [`Self::gradient`] evaluates it.
    fn seeded_gradient(
        &mut self,
        point: &mut Point<E::Vector>,
        batch: &Batch<'_>,
        seed: Seed<'_>,
        gradient: &mut E::Vector,
    );
    /// Runs some training examples through, as it predicts, and a seed back, and shows each layer with
    /// parameters.
    fn visit(
        &mut self,
        point: &Point<E::Vector>,
        batch: &Batch<'_>,
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, E::Vector>),
    );
    /// The same for inputs on the host, without noise: the layers' parts of the Jacobian of predictions. As many
    /// examples as the model has room for, at most.
    fn visit_inputs(
        &mut self,
        point: &Point<E::Vector>,
        inputs: &[E::Number],
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, E::Vector>),
    );
    /// Outputs at a point for inputs on the host, `[examples, outputs]`, with or without noise, which is the same for
    /// all of them. Waits.
    fn predict(
        &mut self,
        point: &Point<E::Vector>,
        inputs: &[E::Number],
        noise: Option<&Stream>,
        out: &mut Vec<E::Number>,
    );
    /// Gradient with respect to inputs on the host, as it predicts: `out = sum_k seed_k d outputs_k / d inputs` for
    /// each example. Waits.
    fn input_gradient(
        &mut self,
        point: &Point<E::Vector>,
        inputs: &[E::Number],
        noise: Option<&Stream>,
        seed: Seed<'_>,
        out: &mut [E::Number],
    );
}
