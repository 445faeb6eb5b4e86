//! A network on a CPU: kernels, buffers, passes forward and back.

mod contract;

use std::sync::Arc;

use dubio_random::stream::Stream;

use super::Flat;
use super::gather::Gathered;
use super::layers::Mode;
use super::seed::factors;
use super::step::{loss_of, step};
use super::tape::{Gradients, Tape};
use crate::engine::{At, Batch, Point, Seed, Visited};
use crate::examples::Examples;
use crate::loss::{Loss, Truth, mean_loss};
use crate::network::Network;
use crate::real::Real;

/// A network's kernels and buffers, and what it learns from.
pub struct Model<T> {
    tape: Tape<T>,
    task: Option<(Examples<T>, Arc<dyn Loss>)>,
    order: Vec<u32>,
    gathered: Gathered<T>,
    losses: Vec<f64>,
    /// Gradients of the outputs.
    seed: Vec<T>,
    /// Running statistics for a pass that must not move those of its point.
    statistics: Vec<T>,
    /// A gradient of the parameters that nobody asked for.
    unused: Vec<T>,
}

impl<T: Real> Model<T> {
    /// With room for batches of up to `capacity` examples.
    #[inline(never)]
    pub fn new(network: &Network, capacity: usize) -> Self {
        Self {
            tape: Tape::new(network, capacity),
            task: None,
            order: Vec::new(),
            gathered: Gathered::default(),
            losses: Vec::new(),
            seed: vec![T::zero(); capacity * network.output().size()],
            statistics: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// What a node put out for the last batch.
    pub fn activations(&self, node: usize) -> &[T] {
        self.tape.activations(node)
    }

    /// Mean loss of these inputs at a point, whose running statistics move; its gradient replaces
    /// `gradient`. What [`crate::engine::Model::gradient`] does with the examples of a mini-batch, for cross-entropy
    /// and Gaussians.
    pub fn loss_and_gradient(
        &mut self,
        point: &mut Point<Flat<T>>,
        (inputs, truth): (&[T], Truth<'_>),
        noise: Option<&Stream>,
        gradient: &mut Flat<T>,
    ) -> f64 {
        let Self { tape, seed, .. } = self;
        let Point { theta, statistics } = point;
        let mode = Mode::training(noise);
        step(tape, seed, (theta, statistics), inputs, &mode, gradient, |outputs, seed| {
            mean_loss(outputs, truth, seed)
        })
    }

    pub(crate) fn gradient_at(
        &mut self,
        theta: &Flat<T>,
        statistics: &mut Flat<T>,
        batch: &Batch<'_>,
        gradient: &mut Flat<T>,
    ) {
        let Self { tape, task, order, gathered, seed, .. } = self;
        let (examples, loss) = task.as_ref().expect(NOTHING);
        let data = gathered.rows(examples, order, &batch.rows, batch.augment);
        let mode = Mode::training(batch.noise);
        let mean =
            step(tape, seed, (theta, statistics), data.inputs, &mode, gradient, |outputs, seed| {
                loss_of(&**loss, outputs, data, seed)
            });
        self.losses.push(mean);
    }

    pub(crate) fn loss_at(&mut self, point: &At<'_, Flat<T>>, batch: &Batch<'_>) -> f64 {
        let Self { tape, task, order, gathered, seed, statistics, .. } = self;
        let (examples, loss) = task.as_ref().expect(NOTHING);
        let data = gathered.rows(examples, order, &batch.rows, batch.augment);
        statistics.clone_from(&point.statistics.0);
        let mode = Mode::predicting(None);
        let outputs = tape.forward(&point.theta.0, statistics, data.inputs, &mode);
        loss_of(&**loss, outputs, data, &mut seed[..outputs.len()])
    }

    pub(crate) fn outputs_at(
        &mut self,
        point: &At<'_, Flat<T>>,
        batch: &Batch<'_>,
        out: &mut Vec<T>,
    ) {
        let Self { tape, task, order, gathered, statistics, .. } = self;
        let (examples, _) = task.as_ref().expect(NOTHING);
        let data = gathered.rows(examples, order, &batch.rows, batch.augment);
        statistics.clone_from(&point.statistics.0);
        let mode = Mode::predicting(batch.noise);
        out.extend_from_slice(tape.forward(&point.theta.0, statistics, data.inputs, &mode));
    }

    pub(crate) fn seeded_gradient_at(
        &mut self,
        theta: &Flat<T>,
        statistics: &mut Flat<T>,
        batch: &Batch<'_>,
        seed: Seed<'_>,
        gradient: &mut Flat<T>,
    ) {
        let Self { tape, task, order, gathered, seed: room, .. } = self;
        let (examples, _) = task.as_ref().expect(NOTHING);
        let data = gathered.rows(examples, order, &batch.rows, batch.augment);
        let mode = Mode::training(batch.noise);
        step(tape, room, (theta, statistics), data.inputs, &mode, gradient, |outputs, room| {
            factors(seed, outputs, room);
            0.0
        });
    }

    pub(crate) fn visit_at(
        &mut self,
        point: &At<'_, Flat<T>>,
        batch: &Batch<'_>,
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, Flat<T>>),
    ) {
        let Self { tape, task, order, gathered, seed: room, statistics, unused, .. } = self;
        let (examples, _) = task.as_ref().expect(NOTHING);
        let inputs = gathered.rows(examples, order, &batch.rows, batch.augment).inputs;
        statistics.clone_from(&point.statistics.0);
        let mode = Mode::predicting(batch.noise);
        visit(tape, (room, statistics, unused), &point.theta.0, inputs, &mode, seed, visitor);
    }

    pub(crate) fn visit_inputs_at(
        &mut self,
        point: &At<'_, Flat<T>>,
        inputs: &[T],
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, Flat<T>>),
    ) {
        let Self { tape, seed: room, statistics, unused, .. } = self;
        statistics.clone_from(&point.statistics.0);
        let mode = Mode::predicting(None);
        visit(tape, (room, statistics, unused), &point.theta.0, inputs, &mode, seed, visitor);
    }

    pub(crate) fn predict_at(
        &mut self,
        point: &At<'_, Flat<T>>,
        inputs: &[T],
        noise: Option<&Stream>,
        out: &mut Vec<T>,
    ) {
        let Self { tape, statistics, .. } = self;
        statistics.clone_from(&point.statistics.0);
        let size = tape.capacity() * tape.network.input.size();
        let mode = Mode::predicting(noise);
        for part in inputs.chunks(size) {
            out.extend_from_slice(tape.forward(&point.theta.0, statistics, part, &mode));
        }
    }

    pub(crate) fn input_gradient_at(
        &mut self,
        point: &At<'_, Flat<T>>,
        inputs: &[T],
        noise: Option<&Stream>,
        seed: Seed<'_>,
        out: &mut [T],
    ) {
        let mode = Mode::predicting(noise);
        let Self { tape, seed: room, statistics, unused, .. } = self;
        statistics.clone_from(&point.statistics.0);
        let theta = &point.theta.0;
        let outputs = tape.forward(theta, statistics, inputs, &mode);
        let room = &mut room[..outputs.len()];
        factors(seed, outputs, room);
        unused.resize(theta.len(), T::zero());
        tape.backward(theta, inputs, room, &mode, Gradients { parameters: unused, inputs: out });
    }
}

/// Runs inputs through and a seed back, and shows each layer with parameters. Room is for the seed, the running
/// statistics and a gradient that nobody asked for.
fn visit<T: Real>(
    tape: &mut Tape<T>,
    (room, statistics, unused): (&mut [T], &mut [T], &mut Vec<T>),
    theta: &[T],
    inputs: &[T],
    mode: &Mode,
    seed: Seed<'_>,
    visitor: &mut dyn FnMut(Visited<'_, Flat<T>>),
) {
    let outputs = tape.forward(theta, statistics, inputs, mode);
    let room = &mut room[..outputs.len()];
    factors(seed, outputs, room);
    unused.resize(theta.len(), T::zero());
    let gradients = Gradients { parameters: unused, inputs: &mut [] };
    tape.backward(theta, inputs, room, mode, gradients);
    let nodes = tape.network.nodes().iter().enumerate();
    for (index, node) in nodes.filter(|(_, node)| !node.parameters.is_empty()) {
        let inputs = &Flat(tape.read_by(index, inputs).to_vec());
        let output_gradients = &Flat(tape.output_gradients(index).to_vec());
        visitor(Visited { node, inputs, output_gradients });
    }
}

const NOTHING: &str = "a network learns after it was told what from";

/// A generic function that is never inlined is shared with the crates that use it, if it is used here.
#[used]
static SINGLE: fn(&Network, usize) -> Model<f32> = Model::new;
