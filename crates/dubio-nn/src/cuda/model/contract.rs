//! The model's side of the contract with inference.

use std::ops::Range;
use std::sync::Arc;

use dubio_random::stream::Stream;

use super::CudaModel;
use crate::cuda::Cuda;
use crate::cuda::data::CudaData;
use crate::cuda::device::Buffer;
use crate::cuda::replays::Replays;
use crate::cuda::vector::CudaVector;
use crate::engine::{Batch, Model, Point, Seed, Visited};
use crate::initial;
use crate::loss::Loss;
use crate::mode::{Mode, Statistics};
use crate::network::{Network, Node};

impl Model<Cuda> for CudaModel {
    fn network(&self) -> &Network {
        &self.tape.network
    }

    fn start(&self, stream: &Stream) -> Point<CudaVector> {
        let of = |numbers: Vec<f32>| CudaVector::of(self.device(), &numbers);
        let network = &self.tape.network;
        Point { theta: of(initial::start(network, stream)), statistics: of(initial::rest(network)) }
    }

    fn learn(&mut self, data: &CudaData, loss: &Arc<dyn Loss>, moving: Range<usize>) {
        let stays = |node: &Node| node.stays(&moving);
        self.tape.frozen = self.tape.network.nodes().iter().map(stays).collect();
        self.replays = Replays::default();
        self.task = Some((data.clone(), Arc::clone(loss)));
    }

    fn order(&mut self, rows: &[u32]) {
        if self.order.device.len() == rows.len() {
            self.device().upload(rows, self.order.device.place());
        } else {
            self.order.device = Buffer::of(self.device(), rows);
        }
        self.order.host = rows.to_vec();
    }

    fn gradient(
        &mut self,
        point: &mut Point<CudaVector>,
        batch: &Batch<'_>,
        gradient: &mut CudaVector,
    ) {
        self.gradient_at(&point.theta, &mut point.statistics, batch, gradient);
    }

    fn losses(&mut self) -> Vec<f64> {
        self.fetch_losses();
        std::mem::take(&mut self.losses)
    }

    fn loss(&mut self, point: &Point<CudaVector>, batch: &Batch<'_>) -> f64 {
        self.loss_at(&point.at(), batch)
    }

    fn observe(
        &mut self,
        theta: &CudaVector,
        statistics: &mut CudaVector,
        batch: &Batch<'_>,
        momentum: f64,
    ) {
        let mode = Mode { statistics: Statistics::Batch { momentum }, ..Mode::training(None) };
        self.run(theta.place(), statistics.place(), batch, &mode);
    }

    fn outputs(&mut self, point: &Point<CudaVector>, batch: &Batch<'_>, out: &mut Vec<f32>) {
        self.outputs_at(&point.at(), batch, out);
    }

    fn seeded_gradient(
        &mut self,
        point: &mut Point<CudaVector>,
        batch: &Batch<'_>,
        seed: Seed<'_>,
        gradient: &mut CudaVector,
    ) {
        let Point { theta, statistics } = point;
        self.seeded_gradient_at(theta, statistics, batch, seed, gradient);
    }

    fn visit(
        &mut self,
        point: &Point<CudaVector>,
        batch: &Batch<'_>,
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, CudaVector>),
    ) {
        self.visit_at(&point.at(), batch, seed, visitor);
    }

    fn visit_inputs(
        &mut self,
        point: &Point<CudaVector>,
        inputs: &[f32],
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, CudaVector>),
    ) {
        self.visit_inputs_at(&point.at(), inputs, seed, visitor);
    }

    fn predict(
        &mut self,
        point: &Point<CudaVector>,
        inputs: &[f32],
        noise: Option<&Stream>,
        out: &mut Vec<f32>,
    ) {
        self.predict_at(&point.at(), inputs, noise, out);
    }

    fn input_gradient(
        &mut self,
        point: &Point<CudaVector>,
        inputs: &[f32],
        noise: Option<&Stream>,
        seed: Seed<'_>,
        out: &mut [f32],
    ) {
        self.input_gradient_at(&point.at(), inputs, noise, seed, out);
    }
}
