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

/// A loss by its kernel, or by the host where `on_host` says so.
#[derive(Debug)]
pub(crate) struct Likelihood {
    pub(crate) outputs: usize,
    pub(crate) kernel: Option<Kernel>,
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

const EXAMPLES: usize = 40;
pub(crate) const BATCH: Range<usize> = 3..14;
/// Inputs of the host's whose gradients are asked for.
pub(crate) const GIVEN: usize = 5;

/// Everything that a model can be asked for, named, in f64.
pub(crate) fn all<E: Engine>(
    engine: &E,
    network: &Network,
    loss: Likelihood,
    moving: Range<usize>,
) -> Vec<(&'static str, Vec<f64>)> {
    let mut model = engine.model(network, BATCH.len());
    let size = network.input.size();
    let inputs = Arc::new(numbers::<E::Number>(EXAMPLES * size, "inputs"));
    let regression = loss.kernel == Some(Kernel::Gaussian);
    let outputs = network.output().size();
    let answers = if regression {
        Answers::Targets(Arc::new(numbers::<f64>(EXAMPLES, "targets")))
    } else {
        Answers::Labels(Arc::new((0..EXAMPLES as u32).map(|i| i * 7 % outputs as u32).collect()))
    };
    let examples = Examples { inputs: Inputs::Ready(Arc::clone(&inputs)), answers };
    let loss: Arc<dyn Loss> = Arc::new(loss);
    model.learn(&engine.data(&examples), &loss, moving);
    let order: Vec<u32> = (0..EXAMPLES as u32).map(|i| (i * 11 + 5) % EXAMPLES as u32).collect();
    model.order(&order);
    // Numbers that both engines can hold.
    let start = |len: usize, numbers: Vec<f64>| {
        let numbers: Vec<E::Number> =
            numbers.into_iter().map(|v| E::Number::of(f64::from(v as f32))).collect();
        assert_eq!(numbers.len(), len);
        engine.vector(&numbers)
    };
    let from = Double::default().model(network, 1).start(&Stream::root(1));
    let read = |vector: &E::Vector| vector.read(0..vector.len());
    let mut point = Point {
        theta: start(network.parameters(), from.theta.read(0..network.parameters())),
        statistics: start(network.statistics(), from.statistics.read(0..network.statistics())),
    };
    let mut gradient = point.theta.zeros(network.parameters());
    let noise = Stream::root(9);
    let mut found = Vec::new();
    for rows in [Rows::Ordered(BATCH), Rows::Stored(BATCH)] {
        let batch = Batch { rows, augment: None, noise: Some(&noise) };
        model.gradient(&mut point, &batch, &mut gradient);
        found.push(("gradient", read(&gradient)));
        found.push(("statistics", read(&point.statistics)));
    }
    // Three epochs: often enough to be recorded and replayed, on other examples every time. Most batches follow the
    // one before; the last of an epoch is smaller.
    let starts = (0..EXAMPLES).step_by(BATCH.len());
    for (step, start) in (0..3).flat_map(|_| starts.clone()).enumerate() {
        let rows = Rows::Ordered(start..EXAMPLES.min(start + BATCH.len()));
        let noise = noise.nth(step);
        let batch = Batch { rows, augment: None, noise: Some(&noise) };
        model.gradient(&mut point, &batch, &mut gradient);
        found.push(("gradient of steps", read(&gradient)));
    }
    found.push(("losses", model.losses()));
    let plain = Batch { rows: Rows::Ordered(BATCH), augment: None, noise: None };
    found.push(("loss", vec![model.loss(&point, &plain)]));
    let mut statistics = point.statistics.clone();
    model.observe(&point.theta, &mut statistics, &plain, 0.5);
    found.push(("observed", read(&statistics)));
    let (mut out, wide) = (Vec::new(), |v: &E::Number| v.wide());
    model.outputs(&point, &plain, &mut out);
    model.predict(&point, &inputs[..30 * size], Some(&noise), &mut out);
    found.push(("outputs", out.iter().map(wide).collect()));
    let some: Vec<E::Number> = inputs[..GIVEN * size].to_vec();
    let mut of_inputs = vec![E::Number::of(0.0); some.len()];
    let factors: Vec<f64> = numbers(GIVEN * outputs, "factors");
    let seed = Seed::Factors(&factors);
    model.input_gradient(&point, &some, Some(&noise), seed, &mut of_inputs);
    found.push(("gradient of inputs", of_inputs.iter().map(wide).collect()));
    if !regression {
        let (labels, weights) = ([0, 1, 0, 1, 1], [1.0, -0.5, 2.0, 0.25, 1.5]);
        let seed = Seed::CrossEntropy { labels: &labels, weights: &weights };
        model.input_gradient(&point, &some, None, seed, &mut of_inputs);
        found.push(("attacked", of_inputs.iter().map(wide).collect()));
    }
    let factors: Vec<f64> = numbers(BATCH.len() * outputs, "factors");
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
