//! Everything that a model can be asked for.

use std::ops::Range;
use std::sync::Arc;

use dubio_nn::Double;
use dubio_nn::engine::{Batch, Engine, Model, Point, Rows, Seed, Vector};
use dubio_nn::examples::{Answers, Examples, Inputs};
use dubio_nn::loss::{Kernel, Loss, Truth, mean_loss};
use dubio_nn::network::Network;
use dubio_nn::real::Real;
use dubio_random::stream::Stream;

use crate::images::Moved;

/// A loss by its kernel, or by the host where there is none.
#[derive(Debug)]
struct Likelihood {
    outputs: usize,
    kernel: Option<Kernel>,
}

impl Loss for Likelihood {
    fn outputs(&self) -> usize {
        self.outputs
    }
    fn mean(&self, outputs: &[f64], answers: Truth<'_>, _: &[u32], gradient: &mut [f64]) -> f64 {
        mean_loss(outputs, answers, gradient)
    }
    fn kernel(&self) -> Option<Kernel> {
        self.kernel
    }
}

pub(crate) fn numbers<T: Real>(count: usize, name: &str) -> Vec<T> {
    let mut values = Double::default().vector(&vec![0.0; count]);
    values.add_noise(1.0, &Stream::root(3).child(name));
    values.read(0..count).into_iter().map(|v| T::of(f64::from(v as f32))).collect()
}

/// The usual mini-batch.
pub(crate) const BATCH: Range<usize> = 3..14;
/// Inputs of the host's whose gradients are asked for.
pub(crate) const GIVEN: usize = 5;

/// How a mini-batch gets its inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Given {
    /// They are ready.
    Ready,
    /// Images that the engine may move itself.
    Moved,
    /// Images that the host moves each time.
    Anew,
}

/// A network, and how it learns.
#[derive(Clone)]
pub(crate) struct Case<'a> {
    pub(crate) network: &'a Network,
    pub(crate) kernel: Option<Kernel>,
    /// Parameters that do not stay.
    pub(crate) moving: Range<usize>,
    /// How many it learns from.
    pub(crate) examples: usize,
    /// A mini-batch of them.
    pub(crate) batch: Range<usize>,
    pub(crate) given: Given,
}

impl<'a> Case<'a> {
    /// Few examples of a classification.
    pub(crate) fn new(network: &'a Network) -> Self {
        let (kernel, moving) = (Some(Kernel::CrossEntropy), 0..network.parameters());
        Self { network, kernel, moving, examples: 40, batch: BATCH, given: Given::Ready }
    }

    pub(crate) fn loss(&self) -> Arc<dyn Loss> {
        Arc::new(Likelihood { outputs: self.network.output().size(), kernel: self.kernel })
    }

    /// Inputs of all examples, the examples, and an order that takes each once.
    fn examples<T: Real>(&self) -> (Arc<Vec<T>>, Examples<T>, Vec<u32>) {
        let (count, outputs) = (self.examples as u32, self.network.output().size() as u32);
        let inputs = Arc::new(numbers::<T>(self.examples * self.network.input.size(), "inputs"));
        let answers = match self.kernel {
            Some(Kernel::Gaussian) => Answers::Targets(Arc::new(numbers(self.examples, "targets"))),
            _ => Answers::Labels(Arc::new((0..count).map(|i| i * 7 % outputs).collect())),
        };
        let moved = |by_engine: bool| Moved::new(&inputs, self.network.input, by_engine);
        let given = match self.given {
            Given::Ready => Inputs::Ready(Arc::clone(&inputs)),
            Given::Moved => Inputs::Source(Arc::new(moved(true))),
            Given::Anew => Inputs::Source(Arc::new(moved(false))),
        };
        let order: Vec<u32> = (0..count).map(|i| (i * 11 + 5) % count).collect();
        (inputs, Examples { inputs: given, answers }, order)
    }
}

/// Where a model begins, in numbers that both engines can hold.
pub(crate) fn start<E: Engine>(engine: &E, network: &Network) -> Point<E::Vector> {
    let from = Double::default().model(network, 1).start(&Stream::root(1));
    let on_engine = |numbers: Vec<f64>| {
        let numbers: Vec<E::Number> =
            numbers.into_iter().map(|v| E::Number::of(f64::from(v as f32))).collect();
        engine.vector(&numbers)
    };
    Point {
        theta: on_engine(from.theta.read(0..network.parameters())),
        statistics: on_engine(from.statistics.read(0..network.statistics())),
    }
}

/// Everything that a model can be asked for, named, in f64.
pub(crate) fn all<E: Engine>(engine: &E, case: &Case<'_>) -> Vec<(&'static str, Vec<f64>)> {
    let Case { network, batch: rows, .. } = case;
    let mut model = engine.model(network, rows.len());
    let (size, outputs) = (network.input.size(), network.output().size());
    let (inputs, examples, order) = case.examples::<E::Number>();
    model.learn(&engine.data(&examples), &case.loss(), case.moving.clone());
    model.order(&order);
    let read = |vector: &E::Vector| vector.read(0..vector.len());
    let mut point = start(engine, network);
    let mut gradient = point.theta.zeros(network.parameters());
    let noise = Stream::root(9);
    let mut found = Vec::new();
    for rows in [Rows::Ordered(rows.clone()), Rows::Stored(rows.clone())] {
        let batch = Batch { rows, augment: Some(&noise), noise: Some(&noise) };
        model.gradient(&mut point, &batch, &mut gradient);
        found.push(("gradient", read(&gradient)));
        found.push(("statistics", read(&point.statistics)));
    }
    // Three epochs: often enough to be recorded and replayed, on other examples every time. Most batches follow the
    // one before; the last of an epoch is smaller. Images of every third are as they are.
    let starts = (0..case.examples).step_by(rows.len());
    for (step, start) in (0..3).flat_map(|_| starts.clone()).enumerate() {
        let rows = Rows::Ordered(start..case.examples.min(start + rows.len()));
        let noise = noise.nth(step);
        let augment = (step % 3 < 2).then_some(&noise);
        let batch = Batch { rows, augment, noise: Some(&noise) };
        model.gradient(&mut point, &batch, &mut gradient);
        found.push(("gradient of steps", read(&gradient)));
    }
    found.push(("losses", model.losses()));
    let plain = Batch { rows: Rows::Ordered(rows.clone()), augment: None, noise: None };
    let moved = Batch { augment: Some(&noise), ..plain.clone() };
    found.push(("loss", vec![model.loss(&point, &plain), model.loss(&point, &moved)]));
    let mut statistics = point.statistics.clone();
    model.observe(&point.theta, &mut statistics, &plain, 0.5);
    found.push(("observed", read(&statistics)));
    let (mut out, wide) = (Vec::new(), |v: &E::Number| v.wide());
    model.outputs(&point, &plain, &mut out);
    model.outputs(&point, &moved, &mut out);
    // More than there is room for at once, and not as many times as much.
    model.predict(&point, &inputs[..(case.examples - 10) * size], Some(&noise), &mut out);
    found.push(("outputs", out.iter().map(wide).collect()));
    let some: Vec<E::Number> = inputs[..GIVEN * size].to_vec();
    let mut of_inputs = vec![E::Number::of(0.0); some.len()];
    let factors: Vec<f64> = numbers(GIVEN * outputs, "factors");
    let seed = Seed::Factors(&factors);
    model.input_gradient(&point, &some, Some(&noise), seed, &mut of_inputs);
    found.push(("gradient of inputs", of_inputs.iter().map(wide).collect()));
    if case.kernel != Some(Kernel::Gaussian) {
        let (labels, weights) = ([0, 1, 0, 1, 1], [1.0, -0.5, 2.0, 0.25, 1.5]);
        let seed = Seed::CrossEntropy { labels: &labels, weights: &weights };
        model.input_gradient(&point, &some, None, seed, &mut of_inputs);
        found.push(("attacked", of_inputs.iter().map(wide).collect()));
    }
    let factors: Vec<f64> = numbers(rows.len() * outputs, "factors");
    model.seeded_gradient(&mut point, &plain, Seed::Factors(&factors), &mut gradient);
    found.push(("seeded", read(&gradient)));
    model.visit(&point, &plain, Seed::Factors(&factors), &mut |visited| {
        found.push(("visited inputs", read(visited.inputs)));
        found.push(("visited gradients", read(visited.output_gradients)));
    });
    let factors: Vec<f64> = numbers(GIVEN * outputs, "factors");
    model.visit_inputs(&point, &some, Seed::Factors(&factors), &mut |visited| {
        found.push(("gradients visited for given inputs", read(visited.output_gradients)));
    });
    found
}
