//! A network's kernels and their buffers: run forward over a batch, then back.

use std::ops::Range;

use super::layers::{Backward, Forward, Kernel, Mode, PIECE, kernel};
use crate::network::{Network, Node, Source};
use crate::real::Real;

/// The kernels of a network, with buffers for batches of up to some size that are allocated once.
pub(super) struct Tape<T> {
    pub network: Network,
    kernels: Vec<Box<dyn Kernel<T>>>,
    capacity: usize,
    /// Examples of the last batch.
    batch: usize,
    outputs: Vec<Vec<T>>,
    gradients: Vec<Vec<T>>,
    saved: Vec<Vec<T>>,
    scratch: Vec<T>,
    sums: Vec<f64>,
    /// For gradients that reach a node after another has: one for each input that a layer may have.
    spare: Vec<Vec<T>>,
    /// Which nodes a gradient has reached on the way back.
    reached: Vec<bool>,
    /// Nodes whose parameters stay, and with them their running statistics.
    frozen: Vec<bool>,
}

impl<T: Real> Tape<T> {
    /// Room for `capacity` examples at a time.
    pub(super) fn new(network: &Network, capacity: usize) -> Self {
        let zeros = |size: usize| vec![T::zero(); size];
        let pieces = capacity.div_ceil(PIECE);
        let nodes = network.nodes();
        let kernels: Vec<_> = nodes.iter().map(|n| kernel::<T>(&n.layer, &n.inputs)).collect();
        let each = || kernels.iter().zip(nodes.iter().map(|node| node.inputs[0]));
        let scratch = each().map(|(kernel, input)| kernel.scratch(input)).max();
        let sums = each().map(|(kernel, input)| kernel.sums(input)).max();
        let most = nodes.iter().map(|node| node.inputs.len()).max().unwrap_or(0);
        let largest = |which: usize| {
            nodes.iter().filter_map(|node| Some(node.inputs.get(which)?.size())).max().unwrap_or(0)
        };
        Self {
            capacity,
            batch: 0,
            outputs: nodes.iter().map(|n| zeros(n.output.size() * capacity)).collect(),
            gradients: nodes.iter().map(|n| zeros(n.output.size() * capacity)).collect(),
            saved: each().map(|(kernel, input)| zeros(kernel.saved(input, capacity))).collect(),
            scratch: zeros(scratch.unwrap_or(0) * pieces),
            sums: vec![0.0; sums.unwrap_or(0)],
            spare: (0..most).map(|which| zeros(largest(which) * capacity)).collect(),
            reached: vec![false; nodes.len()],
            frozen: vec![false; nodes.len()],
            network: network.clone(),
            kernels,
        }
    }

    /// Lets only these parameters move.
    pub(super) fn freeze_outside(&mut self, moving: &Range<usize>) {
        let stays = |node: &Node| node.stays(moving);
        self.frozen = self.network.nodes().iter().map(stays).collect();
    }

    /// Examples that fit.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// What a node put out for the last batch.
    pub(super) fn activations(&self, node: usize) -> &[T] {
        &self.outputs[node][..self.batch * self.network.nodes()[node].output.size()]
    }

    /// What a node read from its first source in the last batch, whose inputs these were.
    pub(super) fn read_by<'a>(&'a self, node: usize, inputs: &'a [T]) -> &'a [T] {
        match self.network.nodes()[node].sources[0] {
            Source::Input => inputs,
            Source::Node(index) => self.activations(index),
        }
    }

    /// Gradient with respect to what a node put out for the last batch.
    pub(super) fn output_gradients(&self, node: usize) -> &[T] {
        &self.gradients[node][..self.batch * self.network.nodes()[node].output.size()]
    }

    /// Runs the network on a batch; gives the outputs, `[batch, outputs]`.
    pub(super) fn forward(
        &mut self,
        theta: &[T],
        statistics: &mut [T],
        input: &[T],
        mode: &Mode,
    ) -> &[T] {
        let batch = input.len() / self.network.input.size();
        assert!(batch <= self.capacity, "a batch larger than the buffers");
        self.batch = batch;
        let nodes = self.network.nodes();
        let frozen = mode.frozen();
        for (index, (node, kernel)) in nodes.iter().zip(&self.kernels).enumerate() {
            let mode = if self.frozen[index] { &frozen } else { mode };
            let (before, rest) = self.outputs.split_at_mut(index);
            let read = |source: Source| match source {
                Source::Input => input,
                Source::Node(i) => &before[i][..batch * nodes[i].output.size()],
            };
            let noise = mode.noise.as_ref().filter(|_| node.layer.is_noisy());
            let noise = noise.map(|stream| stream.child(&node.name));
            let others: Vec<&[T]> = node.sources[1..].iter().map(|&other| read(other)).collect();
            kernel.forward(Forward {
                theta: &theta[node.parameters.clone()],
                input: read(node.sources[0]),
                others: &others,
                output: &mut rest[0][..batch * node.output.size()],
                saved: &mut self.saved[index][..kernel.saved(node.inputs[0], batch)],
                scratch: &mut self.scratch,
                sums: &mut self.sums,
                statistics: &mut statistics[node.statistics.clone()],
                batch,
                shape: node.inputs[0],
                mode,
                noise: noise.as_ref(),
            });
        }
        self.activations(self.kernels.len() - 1)
    }

    /// Runs gradients back through the last batch. The gradient of the outputs is taken from
    /// `seed`.
    pub(super) fn backward(
        &mut self,
        theta: &[T],
        input: &[T],
        seed: &[T],
        mode: &Mode,
        into: Gradients<'_, T>,
    ) {
        let Gradients { parameters: gradient, inputs } = into;
        let batch = self.batch;
        let last = self.kernels.len() - 1;
        self.gradients[last][..seed.len()].copy_from_slice(seed);
        self.reached.fill(false);
        self.reached[last] = true;
        let wanted = !inputs.is_empty();
        let nodes = self.network.nodes();
        let frozen = mode.frozen();
        let Self { gradients, spare, reached, .. } = self;
        let mut rooms = Rooms { gradients, spare, reached, inputs, input_reached: false };
        for (index, (node, kernel)) in nodes.iter().zip(&self.kernels).enumerate().rev() {
            let mode = if self.frozen[index] { &frozen } else { mode };
            let reads_node = node.sources.iter().any(|source| *source != Source::Input);
            if !rooms.reached[index] || !(reads_node || !node.parameters.is_empty() || wanted) {
                continue; // nobody needs what would come of it
            }
            let size = |which: usize| batch * node.inputs[which].size();
            let mut first = rooms.lend(0, node.sources[0]);
            let further = node.sources.iter().enumerate().skip(1);
            let mut others: Vec<Room<T>> =
                further.map(|(which, &source)| rooms.lend(which, source)).collect();
            let places = others.iter_mut().enumerate();
            kernel.backward(Backward {
                theta: &theta[node.parameters.clone()],
                input: match node.sources[0] {
                    Source::Input => input,
                    Source::Node(i) => &self.outputs[i][..size(0)],
                },
                output: &self.outputs[index][..batch * node.output.size()],
                output_gradient: &rooms.gradients[index][..batch * node.output.size()],
                input_gradient: first.up_to(size(0)),
                other_gradients: &mut places
                    .map(|(i, room)| room.up_to(size(i + 1)))
                    .collect::<Vec<_>>(),
                gradient: &mut gradient[node.parameters.clone()],
                saved: &self.saved[index][..kernel.saved(node.inputs[0], batch)],
                scratch: &mut self.scratch,
                sums: &mut self.sums,
                batch,
                shape: node.inputs[0],
                mode,
            });
            rooms.settle(0, node.sources[0], first, size(0));
            for (i, room) in others.into_iter().enumerate() {
                rooms.settle(i + 1, node.sources[i + 1], room, size(i + 1));
            }
        }
    }
}

/// Where gradients go.
pub(super) struct Gradients<'a, T> {
    /// That of the parameters is added here.
    pub parameters: &'a mut [T],
    /// That of the inputs replaces this; empty when nobody needs it.
    pub inputs: &'a mut [T],
}

/// The buffers of gradients on the way back.
struct Rooms<'a, T> {
    gradients: &'a mut [Vec<T>],
    spare: &'a mut [Vec<T>],
    reached: &'a mut [bool],
    /// Gradient of the inputs; empty when nobody needs it.
    inputs: &'a mut [T],
    input_reached: bool,
}

/// A buffer that a kernel fills.
struct Room<T> {
    values: Vec<T>,
    /// Whether another gradient has reached the same place, to which this one is added.
    again: bool,
}

impl<T> Room<T> {
    fn up_to(&mut self, size: usize) -> &mut [T] {
        let size = size.min(self.values.len());
        &mut self.values[..size]
    }
}

impl<T: Real> Rooms<'_, T> {
    /// Room for the gradient that reaches a source: its own buffer, or a spare one where another gradient is.
    fn lend(&mut self, which: usize, source: Source) -> Room<T> {
        let (values, again) = match source {
            Source::Input if self.inputs.is_empty() => (Vec::new(), false),
            Source::Input => (
                std::mem::take(&mut self.spare[which]),
                std::mem::replace(&mut self.input_reached, true),
            ),
            Source::Node(i) if std::mem::replace(&mut self.reached[i], true) => {
                (std::mem::take(&mut self.spare[which]), true)
            }
            Source::Node(i) => (std::mem::take(&mut self.gradients[i]), false),
        };
        Room { values, again }
    }

    /// Takes back what was lent, and brings its gradient to where it belongs.
    fn settle(&mut self, which: usize, source: Source, room: Room<T>, size: usize) {
        let Room { values, again } = room;
        match source {
            Source::Node(i) if !again => return self.gradients[i] = values,
            Source::Node(i) => add(&mut self.gradients[i][..size], &values[..size]),
            Source::Input if self.inputs.is_empty() => return,
            Source::Input if again => add(self.inputs, &values[..size]),
            Source::Input => self.inputs.copy_from_slice(&values[..size]),
        }
        self.spare[which] = values;
    }
}

fn add<T: Real>(sums: &mut [T], values: &[T]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum = *sum + *value;
    }
}
