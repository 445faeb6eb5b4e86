//! Networks on either device.

use std::ops::Range;
use std::sync::Arc;

use dubio_random::stream::Stream;

use super::{MIXED, Single, SingleData, SingleVector};
use crate::cpu::{self, Flat};
use crate::cuda::{CudaModel, CudaVector};
use crate::engine::{At, Batch, Model, Point, Seed, Visited};
use crate::loss::Loss;
use crate::network::Network;

/// A network at work on either device.
pub enum SingleModel {
    /// On the processor.
    Cpu(Box<cpu::Model<f32>>),
    /// On a GPU.
    Cuda(Box<CudaModel>),
}

fn on_cpu(point: &Point<SingleVector>) -> At<'_, Flat<f32>> {
    At { theta: point.theta.cpu(), statistics: point.statistics.cpu() }
}

fn on_gpu(point: &Point<SingleVector>) -> At<'_, CudaVector> {
    At { theta: point.theta.cuda(), statistics: point.statistics.cuda() }
}

type Visitor<'a> = dyn FnMut(Visited<'_, SingleVector>) + 'a;

fn shown_by_cpu(
    Visited { node, inputs, output_gradients }: Visited<'_, Flat<f32>>,
    to: &mut Visitor<'_>,
) {
    let [inputs, output_gradients] =
        &[inputs, output_gradients].map(|vector| SingleVector::Cpu(vector.clone()));
    to(Visited { node, inputs, output_gradients });
}

fn shown_by_gpu(
    Visited { node, inputs, output_gradients }: Visited<'_, CudaVector>,
    to: &mut Visitor<'_>,
) {
    let [inputs, output_gradients] =
        &[inputs, output_gradients].map(|vector| SingleVector::Cuda(vector.clone()));
    to(Visited { node, inputs, output_gradients });
}

impl Model<Single> for SingleModel {
    fn network(&self) -> &Network {
        match self {
            Self::Cpu(model) => model.network(),
            Self::Cuda(model) => model.network(),
        }
    }

    fn start(&self, stream: &Stream) -> Point<SingleVector> {
        match self {
            Self::Cpu(model) => {
                let Point { theta, statistics } = model.start(stream);
                Point { theta: SingleVector::Cpu(theta), statistics: SingleVector::Cpu(statistics) }
            }
            Self::Cuda(model) => {
                let Point { theta, statistics } = model.start(stream);
                Point {
                    theta: SingleVector::Cuda(theta),
                    statistics: SingleVector::Cuda(statistics),
                }
            }
        }
    }

    fn learn(&mut self, data: &SingleData, loss: &Arc<dyn Loss>, moving: Range<usize>) {
        match (self, data) {
            (Self::Cpu(model), SingleData::Cpu(data)) => model.learn(data, loss, moving),
            (Self::Cuda(model), SingleData::Cuda(data)) => model.learn(data, loss, moving),
            _ => panic!("{MIXED}"),
        }
    }

    fn order(&mut self, rows: &[u32]) {
        match self {
            Self::Cpu(model) => model.order(rows),
            Self::Cuda(model) => model.order(rows),
        }
    }

    fn gradient(
        &mut self,
        Point { theta, statistics }: &mut Point<SingleVector>,
        batch: &Batch<'_>,
        gradient: &mut SingleVector,
    ) {
        match self {
            Self::Cpu(model) => {
                model.gradient_at(theta.cpu(), statistics.cpu_mut(), batch, gradient.cpu_mut());
            }
            Self::Cuda(model) => {
                model.gradient_at(theta.cuda(), statistics.cuda_mut(), batch, gradient.cuda_mut());
            }
        }
    }

    fn losses(&mut self) -> Vec<f64> {
        match self {
            Self::Cpu(model) => model.losses(),
            Self::Cuda(model) => model.losses(),
        }
    }

    fn loss(&mut self, point: &Point<SingleVector>, batch: &Batch<'_>) -> f64 {
        match self {
            Self::Cpu(model) => model.loss_at(&on_cpu(point), batch),
            Self::Cuda(model) => model.loss_at(&on_gpu(point), batch),
        }
    }

    fn observe(
        &mut self,
        theta: &SingleVector,
        statistics: &mut SingleVector,
        batch: &Batch<'_>,
        momentum: f64,
    ) {
        match self {
            Self::Cpu(model) => model.observe(theta.cpu(), statistics.cpu_mut(), batch, momentum),
            Self::Cuda(model) => {
                model.observe(theta.cuda(), statistics.cuda_mut(), batch, momentum)
            }
        }
    }

    fn outputs(&mut self, point: &Point<SingleVector>, batch: &Batch<'_>, out: &mut Vec<f32>) {
        match self {
            Self::Cpu(model) => model.outputs_at(&on_cpu(point), batch, out),
            Self::Cuda(model) => model.outputs_at(&on_gpu(point), batch, out),
        }
    }

    fn seeded_gradient(
        &mut self,
        Point { theta, statistics }: &mut Point<SingleVector>,
        batch: &Batch<'_>,
        seed: Seed<'_>,
        gradient: &mut SingleVector,
    ) {
        match self {
            Self::Cpu(model) => {
                let (statistics, gradient) = (statistics.cpu_mut(), gradient.cpu_mut());
                model.seeded_gradient_at(theta.cpu(), statistics, batch, seed, gradient);
            }
            Self::Cuda(model) => {
                let (statistics, gradient) = (statistics.cuda_mut(), gradient.cuda_mut());
                model.seeded_gradient_at(theta.cuda(), statistics, batch, seed, gradient);
            }
        }
    }

    fn visit(
        &mut self,
        point: &Point<SingleVector>,
        batch: &Batch<'_>,
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, SingleVector>),
    ) {
        match self {
            Self::Cpu(model) => {
                model.visit_at(&on_cpu(point), batch, seed, &mut |seen| shown_by_cpu(seen, visitor))
            }
            Self::Cuda(model) => {
                model.visit_at(&on_gpu(point), batch, seed, &mut |seen| shown_by_gpu(seen, visitor))
            }
        }
    }

    fn visit_inputs(
        &mut self,
        point: &Point<SingleVector>,
        inputs: &[f32],
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, SingleVector>),
    ) {
        match self {
            Self::Cpu(model) => {
                let mut show = |seen: Visited<'_, Flat<f32>>| shown_by_cpu(seen, visitor);
                model.visit_inputs_at(&on_cpu(point), inputs, seed, &mut show);
            }
            Self::Cuda(model) => {
                let mut show = |seen: Visited<'_, CudaVector>| shown_by_gpu(seen, visitor);
                model.visit_inputs_at(&on_gpu(point), inputs, seed, &mut show);
            }
        }
    }

    fn predict(
        &mut self,
        point: &Point<SingleVector>,
        inputs: &[f32],
        noise: Option<&Stream>,
        out: &mut Vec<f32>,
    ) {
        match self {
            Self::Cpu(model) => model.predict_at(&on_cpu(point), inputs, noise, out),
            Self::Cuda(model) => model.predict_at(&on_gpu(point), inputs, noise, out),
        }
    }

    fn input_gradient(
        &mut self,
        point: &Point<SingleVector>,
        inputs: &[f32],
        noise: Option<&Stream>,
        seed: Seed<'_>,
        out: &mut [f32],
    ) {
        match self {
            Self::Cpu(model) => model.input_gradient_at(&on_cpu(point), inputs, noise, seed, out),
            Self::Cuda(model) => model.input_gradient_at(&on_gpu(point), inputs, noise, seed, out),
        }
    }
}
