//! A network on a GPU: buffers, passes forward and back.

mod contract;
mod losses;

use std::sync::Arc;

use dubio_random::stream::Stream;

use super::data::{Chosen, CudaData, Order};
use super::device::{Buffer, Device, Place};
use super::layers::Biases;
use super::replays::{Key, Next, Replays};
use super::tape::Tape;
use super::vector::CudaVector;
use crate::engine::{At, Batch, Seed, Visited};
use crate::examples::Move;
use crate::loss::Loss;
use crate::mode::Mode;
use crate::network::Network;

/// A network's buffers on a GPU, and what it learns from.
pub struct CudaModel {
    tape: Tape,
    task: Option<(CudaData, Arc<dyn Loss>)>,
    order: Order,
    inputs: Buffer<f32>,
    /// How the inputs are moved.
    moves: Buffer<Move>,
    /// Losses of the examples of a batch.
    of_examples: Buffer<f64>,
    /// Mean losses of batches that nobody has asked for yet: those on the device come last.
    losses: Vec<f64>,
    ring: Buffer<f64>,
    in_ring: usize,
    /// Where the step begins in the order, and where its loss goes.
    step: Buffer<u64>,
    /// The values of these two on the device, where the host knows them.
    step_there: Option<[u64; 2]>,
    replays: Replays,
    /// Running statistics for a pass that must not move those of its point.
    statistics: Buffer<f32>,
    /// A gradient of the parameters that nobody asked for.
    unused: Buffer<f32>,
    input_gradient: Buffer<f32>,
}

/// Losses that are kept on the device before they are fetched; behind them is room for one that is asked for alone.
const RING: usize = 4096;
const NOTHING: &str = "a network learns after it was told what from";

impl CudaModel {
    pub(super) fn new(device: &Arc<Device>, network: &Network, capacity: usize) -> Self {
        let zeros = |numbers: usize| Buffer::<f32>::zeros(device, numbers);
        Self {
            tape: Tape::new(device, network, capacity),
            task: None,
            order: Order { host: Vec::new(), device: Buffer::zeros(device, 0) },
            inputs: zeros(capacity * network.input.size()),
            moves: Buffer::zeros(device, capacity),
            of_examples: Buffer::zeros(device, capacity),
            losses: Vec::new(),
            ring: Buffer::zeros(device, RING + 1),
            in_ring: 0,
            step: Buffer::zeros(device, 2),
            step_there: None,
            replays: Replays::default(),
            statistics: zeros(network.statistics()),
            unused: zeros(network.parameters()),
            input_gradient: zeros(capacity * network.input.size()),
        }
    }

    fn device(&self) -> &Arc<Device> {
        &self.tape.device
    }

    /// Numbers of the outputs of the last batch.
    fn outputs_len(&self) -> usize {
        self.tape.batch * self.tape.network.output().size()
    }

    /// Hands over what differs from step to step. The device knows by itself where a step begins that follows another.
    fn prepare(&mut self, batch: &Batch<'_>, mode: &Mode, slot: usize) {
        let (data, _) = self.task.as_ref().expect(NOTHING);
        let chosen = Chosen::new(&batch.rows, &self.order);
        let step = [chosen.start() as u64, slot as u64];
        if self.step_there != Some(step) {
            self.device().upload(&step, self.step.place());
        }
        self.tape.draw(mode);
        chosen.hand_over(data, batch.augment, (&self.inputs, &self.moves));
        self.step_there = None;
    }

    /// Runs a prepared batch forward, after bringing its inputs together; gives the place of the outputs.
    fn forward(
        &mut self,
        [theta, statistics]: [Place; 2],
        batch: &Batch<'_>,
        mode: &Mode,
    ) -> Place {
        let (data, _) = self.task.as_ref().expect(NOTHING);
        let chosen = Chosen::new(&batch.rows, &self.order);
        chosen.gather(data, batch.augment, self.step.place(), (&self.inputs, &self.moves));
        self.tape.forward(theta, statistics, self.inputs.place(), batch.rows.len(), mode)
    }

    /// Runs inputs of the host forward, with running statistics that were [kept](Self::keep_statistics) and with what was
    /// drawn; gives the place of the outputs.
    fn forward_inputs(&mut self, theta: Place, inputs: &[f32], mode: &Mode) -> Place {
        self.inputs.put(inputs);
        let batch = inputs.len() / self.tape.network.input.size();
        let (statistics, own) = (self.statistics.place(), self.inputs.place());
        self.tape.forward(theta, statistics, own, batch, mode)
    }

    /// Prepares a batch and runs it forward; gives the place of the outputs.
    fn run(&mut self, theta: Place, statistics: Place, batch: &Batch<'_>, mode: &Mode) -> Place {
        self.prepare(batch, mode, RING);
        self.forward([theta, statistics], batch, mode)
    }

    /// As [`Self::run`], with running statistics that do not move.
    fn run_fixed(&mut self, point: &At<'_, CudaVector>, batch: &Batch<'_>, mode: &Mode) -> Place {
        self.keep_statistics(point);
        let statistics = self.statistics.place();
        self.run(point.theta.place(), statistics, batch, mode)
    }

    fn keep_statistics(&self, point: &At<'_, CudaVector>) {
        let (from, to) = (point.statistics.place(), self.statistics.place());
        self.device().copy(from, to, self.statistics.len());
    }

    /// Runs a prepared batch forward, works out its loss, and runs it back.
    fn step(
        &mut self,
        [theta, statistics, gradient]: [Place; 3],
        batch: &Batch<'_>,
        mode: &Mode,
        slot: usize,
    ) {
        let outputs = self.forward([theta, statistics], batch, mode);
        let sums = self.last_biases(batch).map(|first| gradient.plus(first));
        self.mean_loss(outputs, batch, slot, sums);
        let biases = if sums.is_some() { Biases::Done } else { Biases::Wanted };
        self.back(theta, mode, (gradient, biases), None);
    }

    /// Whether a step needs nothing of the host once it is prepared.
    fn on_device_alone(&self) -> bool {
        self.task.as_ref().is_some_and(|(_, loss)| loss.kernel().is_some())
    }

    fn back(
        &mut self,
        theta: Place,
        mode: &Mode,
        gradient: (Place, Biases),
        inputs: Option<Place>,
    ) {
        self.tape.backward(theta, self.inputs.place(), mode, gradient, inputs);
    }
}

impl CudaModel {
    pub(crate) fn gradient_at(
        &mut self,
        theta: &CudaVector,
        statistics: &mut CudaVector,
        batch: &Batch<'_>,
        gradient: &mut CudaVector,
    ) {
        if self.in_ring == RING {
            self.fetch_losses();
        }
        let (mode, slot) = (Mode::training(batch.noise), self.in_ring);
        self.in_ring += 1;
        self.prepare(batch, &mode, slot);
        let places = [theta.place(), statistics.place(), gradient.place()];
        let key = Key {
            places,
            batch: batch.rows.len(),
            noisy: batch.noise.is_some(),
            moved: self.task.as_ref().is_some_and(|(data, _)| data.moves(batch.augment)),
            order: Chosen::new(&batch.rows, &self.order).order(),
        };
        let alone = self.on_device_alone();
        match self.replays.next(&key) {
            Next::Replay(graph) => graph.launch(),
            Next::Record if alone => {
                let device = Arc::clone(self.device());
                let graph = device.record(|| self.step(places, batch, &mode, slot));
                graph.launch();
                self.replays.keep(key, graph);
            }
            _ => self.step(places, batch, &mode, slot),
        }
        if alone {
            let start = Chosen::new(&batch.rows, &self.order).start() + batch.rows.len();
            self.step_there = Some([start as u64, slot as u64 + 1]);
        }
    }

    pub(crate) fn loss_at(&mut self, point: &At<'_, CudaVector>, batch: &Batch<'_>) -> f64 {
        let outputs = self.run_fixed(point, batch, &Mode::predicting(None));
        self.mean_loss(outputs, batch, RING, None);
        self.device().download(self.ring.place().plus(2 * RING), 1)[0]
    }

    pub(crate) fn outputs_at(
        &mut self,
        point: &At<'_, CudaVector>,
        batch: &Batch<'_>,
        out: &mut Vec<f32>,
    ) {
        let outputs = self.run_fixed(point, batch, &Mode::predicting(batch.noise));
        out.extend(self.device().download::<f32>(outputs, self.outputs_len()));
    }

    pub(crate) fn seeded_gradient_at(
        &mut self,
        theta: &CudaVector,
        statistics: &mut CudaVector,
        batch: &Batch<'_>,
        seed: Seed<'_>,
        gradient: &mut CudaVector,
    ) {
        let mode = Mode::training(batch.noise);
        let (theta, statistics) = (theta.place(), statistics.place());
        let outputs = self.run(theta, statistics, batch, &mode);
        self.factors(seed, outputs);
        self.back(theta, &mode, (gradient.place(), Biases::Wanted), None);
    }

    pub(crate) fn visit_at(
        &mut self,
        point: &At<'_, CudaVector>,
        batch: &Batch<'_>,
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, CudaVector>),
    ) {
        let mode = Mode::predicting(batch.noise);
        let outputs = self.run_fixed(point, batch, &mode);
        self.show(point, outputs, seed, &mode, visitor);
    }

    pub(crate) fn visit_inputs_at(
        &mut self,
        point: &At<'_, CudaVector>,
        inputs: &[f32],
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, CudaVector>),
    ) {
        self.keep_statistics(point);
        let mode = Mode::predicting(None);
        self.tape.draw(&mode);
        let outputs = self.forward_inputs(point.theta.place(), inputs, &mode);
        self.show(point, outputs, seed, &mode, visitor);
    }

    /// Runs a seed back from the outputs of the last batch, and shows each layer with parameters.
    fn show(
        &mut self,
        point: &At<'_, CudaVector>,
        outputs: Place,
        seed: Seed<'_>,
        mode: &Mode,
        visitor: &mut dyn FnMut(Visited<'_, CudaVector>),
    ) {
        self.factors(seed, outputs);
        self.back(point.theta.place(), mode, (self.unused.place(), Biases::Wanted), None);
        let copy = |from: Place, numbers: usize| {
            let copy = CudaVector(Buffer::zeros(self.device(), numbers));
            self.device().copy(from, copy.place(), numbers);
            copy
        };
        let nodes = self.tape.network.nodes().iter().enumerate();
        for (index, node) in nodes.filter(|(_, node)| !node.parameters.is_empty()) {
            let input = self.tape.read(node.sources[0], self.inputs.place());
            let inputs = &copy(input, self.tape.batch * node.inputs[0].size());
            let gradients = self.tape.output_gradients(index);
            let output_gradients = &copy(gradients, self.tape.batch * node.output.size());
            visitor(Visited { node, inputs, output_gradients });
        }
    }

    pub(crate) fn predict_at(
        &mut self,
        point: &At<'_, CudaVector>,
        inputs: &[f32],
        noise: Option<&Stream>,
        out: &mut Vec<f32>,
    ) {
        self.keep_statistics(point);
        let size = self.tape.network.input.size();
        let mode = Mode::predicting(noise);
        self.tape.draw(&mode);
        for part in inputs.chunks(self.tape.capacity * size) {
            let outputs = self.forward_inputs(point.theta.place(), part, &mode);
            out.extend(self.device().download::<f32>(outputs, self.outputs_len()));
        }
    }

    pub(crate) fn input_gradient_at(
        &mut self,
        point: &At<'_, CudaVector>,
        inputs: &[f32],
        noise: Option<&Stream>,
        seed: Seed<'_>,
        out: &mut [f32],
    ) {
        self.keep_statistics(point);
        let mode = Mode::predicting(noise);
        let theta = point.theta.place();
        self.tape.draw(&mode);
        let outputs = self.forward_inputs(theta, inputs, &mode);
        self.factors(seed, outputs);
        let (unused, to) = (self.unused.place(), self.input_gradient.place());
        self.back(theta, &mode, (unused, Biases::Wanted), Some(to));
        out.copy_from_slice(&self.device().download::<f32>(to, out.len()));
    }
}
