//! The model's side of the contract with inference.

use std::ops::Range;
use std::sync::Arc;

use dubio_random::stream::Stream;

use super::{Model, NOTHING};
use crate::cpu::layers::{Mode, Statistics};
use crate::cpu::{Cpu, Flat};
use crate::engine::{self, Batch, Point, Seed, Visited};
use crate::examples::Examples;
use crate::initial;
use crate::loss::Loss;
use crate::network::Network;
use crate::real::Real;

impl<T: Real> engine::Model<Cpu<T>> for Model<T> {
    fn network(&self) -> &Network {
        &self.tape.network
    }

    fn start(&self, stream: &Stream) -> Point<Flat<T>> {
        let network = &self.tape.network;
        let theta = Flat(initial::start(network, stream));
        Point { theta, statistics: Flat(initial::rest(network)) }
    }

    fn learn(&mut self, data: &Examples<T>, loss: &Arc<dyn Loss>, moving: Range<usize>) {
        self.tape.freeze_outside(&moving);
        self.task = Some((data.clone(), Arc::clone(loss)));
    }

    fn order(&mut self, rows: &[u32]) {
        self.order.clear();
        self.order.extend_from_slice(rows);
    }

    fn gradient(&mut self, point: &mut Point<Flat<T>>, batch: &Batch<'_>, gradient: &mut Flat<T>) {
        self.gradient_at(&point.theta, &mut point.statistics, batch, gradient);
    }

    fn losses(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.losses)
    }

    fn loss(&mut self, point: &Point<Flat<T>>, batch: &Batch<'_>) -> f64 {
        self.loss_at(&point.at(), batch)
    }

    fn observe(
        &mut self,
        theta: &Flat<T>,
        statistics: &mut Flat<T>,
        batch: &Batch<'_>,
        momentum: f64,
    ) {
        let Self { tape, task, order, gathered, .. } = self;
        let (examples, _) = task.as_ref().expect(NOTHING);
        let data = gathered.rows(examples, order, &batch.rows, batch.augment);
        let mode = Mode { statistics: Statistics::Batch { momentum }, ..Mode::training(None) };
        tape.forward(&theta.0, &mut statistics.0, data.inputs, &mode);
    }

    fn outputs(&mut self, point: &Point<Flat<T>>, batch: &Batch<'_>, out: &mut Vec<T>) {
        self.outputs_at(&point.at(), batch, out);
    }

    fn seeded_gradient(
        &mut self,
        point: &mut Point<Flat<T>>,
        batch: &Batch<'_>,
        seed: Seed<'_>,
        gradient: &mut Flat<T>,
    ) {
        let Point { theta, statistics } = point;
        self.seeded_gradient_at(theta, statistics, batch, seed, gradient);
    }

    fn visit(
        &mut self,
        point: &Point<Flat<T>>,
        batch: &Batch<'_>,
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, Flat<T>>),
    ) {
        self.visit_at(&point.at(), batch, seed, visitor);
    }

    fn visit_inputs(
        &mut self,
        point: &Point<Flat<T>>,
        inputs: &[T],
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, Flat<T>>),
    ) {
        self.visit_inputs_at(&point.at(), inputs, seed, visitor);
    }

    fn predict(
        &mut self,
        point: &Point<Flat<T>>,
        inputs: &[T],
        noise: Option<&Stream>,
        out: &mut Vec<T>,
    ) {
        self.predict_at(&point.at(), inputs, noise, out);
    }

    fn input_gradient(
        &mut self,
        point: &Point<Flat<T>>,
        inputs: &[T],
        noise: Option<&Stream>,
        seed: Seed<'_>,
        out: &mut [T],
    ) {
        self.input_gradient_at(&point.at(), inputs, noise, seed, out);
    }
}
