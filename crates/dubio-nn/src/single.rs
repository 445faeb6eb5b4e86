//! The engine that programs use, chosen when they start: the processor or a GPU, in single precision.
//!
//! One type for both, so that inference is built once. What one device made is never handed to another.

use std::ops::Range;
use std::sync::Arc;

use dubio_random::stream::Stream;

use crate::cpu::{self, Cpu, Flat};
use crate::cuda::{self, Cuda, CudaData, CudaModel, CudaVector};
use crate::engine::{At, Batch, Engine, Model, Point, Seed, Vector, Visited};
use crate::examples::Examples;
use crate::loss::Loss;
use crate::network::Network;
use crate::precision::Precision;

/// A device.
#[derive(Clone, Debug)]
pub enum Single {
    /// The processor.
    Cpu(Cpu<f32>),
    /// A GPU.
    Cuda(Cuda),
}

impl Default for Single {
    /// The processor, which is always there.
    fn default() -> Self {
        Self::Cpu(Cpu::default())
    }
}

impl Single {
    /// The first GPU that the driver shows; `CUDA_VISIBLE_DEVICES` says which that is.
    pub fn gpu(precision: Precision) -> Result<Self, cuda::Error> {
        Cuda::open(0, precision).map(Self::Cuda)
    }

    /// Bytes of the GPU's memory that are free; `None` for a processor.
    pub fn free_bytes(&self) -> Option<u64> {
        match self {
            Self::Cpu(_) => None,
            Self::Cuda(gpu) => gpu.free_bytes(),
        }
    }
}

/// A vector of either device.
#[derive(Clone, Debug, PartialEq)]
pub enum SingleVector {
    /// In memory.
    Cpu(Flat<f32>),
    /// On a GPU.
    Cuda(CudaVector),
}

/// Training examples on either device.
#[derive(Clone)]
pub enum SingleData {
    /// In memory.
    Cpu(Examples<f32>),
    /// On a GPU.
    Cuda(CudaData),
}

/// A network at work on either device.
pub enum SingleModel {
    /// On the processor.
    Cpu(Box<cpu::Model<f32>>),
    /// On a GPU.
    Cuda(Box<CudaModel>),
}

const MIXED: &str = "what one device made is never handed to another";

impl SingleVector {
    fn cpu(&self) -> &Flat<f32> {
        if let Self::Cpu(vector) = self { vector } else { panic!("{MIXED}") }
    }
    fn cpu_mut(&mut self) -> &mut Flat<f32> {
        if let Self::Cpu(vector) = self { vector } else { panic!("{MIXED}") }
    }
    fn cuda(&self) -> &CudaVector {
        if let Self::Cuda(vector) = self { vector } else { panic!("{MIXED}") }
    }
    fn cuda_mut(&mut self) -> &mut CudaVector {
        if let Self::Cuda(vector) = self { vector } else { panic!("{MIXED}") }
    }
}

/// The same call on whichever device it is; of further vectors, those of that device.
macro_rules! either {
    ($self:expr, $own:ident $(, $other:ident)* => $call:expr) => {
        match $self {
            SingleVector::Cpu($own) => {
                $(let $other = $other.cpu();)*
                $call
            }
            SingleVector::Cuda($own) => {
                $(let $other = $other.cuda();)*
                $call
            }
        }
    };
}

impl Vector for SingleVector {
    fn len(&self) -> usize {
        either!(self, v => v.len())
    }
    fn fill(&mut self, value: f64) {
        either!(self, v => v.fill(value));
    }
    fn copy_from(&mut self, other: &Self) {
        either!(self, v, other => v.copy_from(other));
    }
    fn scale(&mut self, a: f64) {
        either!(self, v => v.scale(a));
    }
    fn axpy(&mut self, a: f64, x: &Self) {
        either!(self, v, x => v.axpy(a, x));
    }
    fn combine(&mut self, a: f64, b: f64, x: &Self) {
        either!(self, v, x => v.combine(a, b, x));
    }
    fn add_product(&mut self, a: f64, x: &Self, y: &Self) {
        either!(self, v, x, y => v.add_product(a, x, y));
    }
    fn add_over_root(&mut self, a: f64, x: &Self, y: &Self, floor: f64) {
        either!(self, v, x, y => v.add_over_root(a, x, y, floor));
    }
    fn add_times_root(&mut self, a: f64, x: &Self, y: &Self) {
        either!(self, v, x, y => v.add_times_root(a, x, y));
    }
    fn add_quotient(&mut self, a: f64, x: &Self, y: &Self) {
        either!(self, v, x, y => v.add_quotient(a, x, y));
    }
    fn add_times_exp(&mut self, a: f64, x: &Self, y: &Self) {
        either!(self, v, x, y => v.add_times_exp(a, x, y));
    }
    fn clip(&mut self, length: f64) {
        either!(self, v => v.clip(length));
    }
    fn dot(&self, other: &Self) -> f64 {
        either!(self, v, other => v.dot(other))
    }
    fn add_noise(&mut self, std: f64, stream: &Stream) {
        either!(self, v => v.add_noise(std, stream));
    }
    fn part(&self, range: Range<usize>) -> Self {
        match self {
            Self::Cpu(v) => Self::Cpu(v.part(range)),
            Self::Cuda(v) => Self::Cuda(v.part(range)),
        }
    }
    fn put(&mut self, start: usize, part: &Self) {
        either!(self, v, part => v.put(start, part));
    }
    fn bytes_per_number(&self) -> usize {
        size_of::<f32>()
    }
    fn zeros(&self, len: usize) -> Self {
        match self {
            Self::Cpu(v) => Self::Cpu(v.zeros(len)),
            Self::Cuda(v) => Self::Cuda(v.zeros(len)),
        }
    }
    fn read(&self, range: Range<usize>) -> Vec<f64> {
        either!(self, v => v.read(range))
    }
    fn write(&mut self, start: usize, values: &[f64]) {
        either!(self, v => v.write(start, values));
    }
}

impl Engine for Single {
    type Number = f32;
    type Vector = SingleVector;
    type Data = SingleData;
    type Model = SingleModel;

    fn vector(&self, numbers: &[f32]) -> SingleVector {
        match self {
            Self::Cpu(engine) => SingleVector::Cpu(engine.vector(numbers)),
            Self::Cuda(engine) => SingleVector::Cuda(engine.vector(numbers)),
        }
    }

    fn data(&self, examples: &Examples<f32>) -> SingleData {
        match self {
            Self::Cpu(engine) => SingleData::Cpu(engine.data(examples)),
            Self::Cuda(engine) => SingleData::Cuda(engine.data(examples)),
        }
    }

    fn model(&self, network: &Network, capacity: usize) -> SingleModel {
        match self {
            Self::Cpu(engine) => SingleModel::Cpu(Box::new(engine.model(network, capacity))),
            Self::Cuda(engine) => SingleModel::Cuda(Box::new(engine.model(network, capacity))),
        }
    }
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
