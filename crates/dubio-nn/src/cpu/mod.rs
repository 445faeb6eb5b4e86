//! The engine for CPUs.

mod flat;
pub mod initial;
mod layers;
mod matrix;
mod tape;

use dubio_random::stream::Stream;
pub use flat::Flat;
use layers::Mode;
use tape::{Gradients, Tape};

use crate::engine::{Batch, Engine, Seed, Slice, Statistics};
use crate::loss::{factors, mean_loss};
use crate::network::Network;
use crate::real::Real;

/// A network at work: its kernels, their buffers, and its running statistics.
pub struct Cpu<T> {
    tape: Tape<T>,
    statistics: Vec<T>,
    seed: Vec<T>,
}

impl<T: Real> Cpu<T> {
    /// With room for batches of up to `capacity` examples.
    #[inline(never)]
    pub fn new(network: &Network, capacity: usize) -> Self {
        Self {
            tape: Tape::new(network, capacity),
            statistics: initial::rest(network),
            seed: vec![T::zero(); capacity * network.output().size()],
        }
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.tape.network
    }

    /// What a node put out for the last batch.
    pub fn activations(&self, node: usize) -> &[T] {
        self.tape.activations(node)
    }

    /// Gradient of the loss with respect to what a node put out for the last batch.
    pub fn output_gradients(&self, node: usize) -> &[T] {
        self.tape.output_gradients(node)
    }
}

/// What is generic and never inlined is shared with the crates that use it, if it is used here.
#[used]
static SINGLE: fn(&Network, usize) -> Cpu<f32> = Cpu::new;

impl<T: Real> Engine for Cpu<T> {
    type Number = T;
    type Vector = Flat<T>;

    fn slices(&self) -> Vec<Slice> {
        self.network().slices()
    }

    fn start(&self, stream: &Stream) -> Flat<T> {
        Flat(initial::start(self.network(), stream))
    }

    fn outputs(&self) -> usize {
        self.network().output().size()
    }

    fn loss_and_gradient(
        &mut self,
        theta: &Flat<T>,
        batch: Batch<'_, T>,
        noise: Option<&Stream>,
        gradient: &mut Flat<T>,
    ) -> f64 {
        let mode = Mode { statistics: Statistics::Batch { momentum: 0.1 }, noise: noise.cloned() };
        let Self { tape, statistics, seed } = self;
        let outputs = tape.forward(&theta.0, statistics, batch.inputs, &mode);
        let seed = &mut seed[..outputs.len()];
        let loss = mean_loss(outputs, batch.answers, seed);
        gradient.0.fill(T::zero());
        let into = Gradients { parameters: &mut gradient.0, inputs: &mut [] };
        tape.backward(&theta.0, batch.inputs, seed, &mode, into);
        loss
    }

    fn loss(&mut self, theta: &Flat<T>, batch: Batch<'_, T>) -> f64 {
        let Self { tape, statistics, seed } = self;
        let mode = Mode::evaluate();
        let outputs = tape.forward(&theta.0, statistics, batch.inputs, &mode);
        let seed = &mut seed[..outputs.len()];
        mean_loss(outputs, batch.answers, seed)
    }

    fn predict(&mut self, theta: &Flat<T>, inputs: &[T], noise: Option<&Stream>, out: &mut Vec<T>) {
        let Self { tape, statistics, .. } = self;
        let size = tape.capacity() * tape.network.input.size();
        let mode = Mode { statistics: Statistics::Running, noise: noise.cloned() };
        for part in inputs.chunks(size) {
            out.extend_from_slice(tape.forward(&theta.0, statistics, part, &mode));
        }
    }

    fn input_gradient(
        &mut self,
        theta: &Flat<T>,
        inputs: &[T],
        noise: Option<&Stream>,
        seed: Seed<'_>,
        out: &mut [T],
    ) {
        let mode = Mode { statistics: Statistics::Running, noise: noise.cloned() };
        let Self { tape, statistics, seed: room } = self;
        let outputs = tape.forward(&theta.0, statistics, inputs, &mode);
        let room = &mut room[..outputs.len()];
        factors(seed, outputs, room);
        let mut unused = vec![T::zero(); theta.0.len()];
        let into = Gradients { parameters: &mut unused, inputs: out };
        tape.backward(&theta.0, inputs, room, &mode, into);
    }

    fn statistics(&self) -> Vec<f64> {
        self.statistics.iter().map(|v| v.wide()).collect()
    }

    fn set_statistics(&mut self, statistics: &[f64]) {
        self.statistics.iter_mut().zip(statistics).for_each(|(v, x)| *v = T::of(*x));
    }

    fn observe(&mut self, theta: &Flat<T>, inputs: &[T], statistics: Statistics) {
        let mode = Mode { statistics, noise: None };
        let Self { tape, statistics, .. } = self;
        tape.forward(&theta.0, statistics, inputs, &mode);
    }
}
