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
    /// For the second gradient that reaches a node with two readers.
    spare: Vec<T>,
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
        let kernels: Vec<_> = nodes.iter().map(|n| kernel::<T>(&n.layer, n.inputs[0])).collect();
        let each = || kernels.iter().zip(nodes.iter().map(|node| node.inputs[0]));
        let scratch = each().map(|(kernel, input)| kernel.scratch(input)).max();
        let sums = each().map(|(kernel, input)| kernel.sums(input)).max();
        let largest = each().map(|(_, input)| input.size()).max().unwrap_or(0);
        Self {
            capacity,
            batch: 0,
            outputs: nodes.iter().map(|n| zeros(n.output.size() * capacity)).collect(),
            gradients: nodes.iter().map(|n| zeros(n.output.size() * capacity)).collect(),
            saved: each().map(|(kernel, input)| zeros(kernel.saved(input, capacity))).collect(),
            scratch: zeros(scratch.unwrap_or(0) * pieces),
            sums: vec![0.0; sums.unwrap_or(0)],
            spare: zeros(largest * capacity),
            reached: vec![false; nodes.len()],
            frozen: vec![false; nodes.len()],
            network: network.clone(),
            kernels,
        }
    }

    /// Lets only these parameters move.
    pub(super) fn freeze_outside(&mut self, moving: &Range<usize>) {
        let stays = |node: &Node| {
            let Range { start, end } = node.parameters;
            start < end && (end <= moving.start || moving.end <= start)
        };
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
            kernel.forward(Forward {
                theta: &theta[node.parameters.clone()],
                input: read(node.sources[0]),
                other: node.sources.get(1).map_or(&[], |&other| read(other)),
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
        let Gradients { parameters: gradient, inputs: input_gradient } = into;
        let batch = self.batch;
        let last = self.kernels.len() - 1;
        self.gradients[last][..seed.len()].copy_from_slice(seed);
        let reached = &mut self.reached;
        reached.fill(false);
        reached[last] = true;
        let mut input_reached = false;
        let wanted = !input_gradient.is_empty();
        let nodes = self.network.nodes();
        let frozen = mode.frozen();
        for (index, (node, kernel)) in nodes.iter().zip(&self.kernels).enumerate().rev() {
            let mode = if self.frozen[index] { &frozen } else { mode };
            let from = node.sources[0];
            let learns = from != Source::Input || !node.parameters.is_empty() || wanted;
            if !reached[index] || !learns {
                continue; // nobody needs what would come of it
            }
            let (before, rest) = self.gradients.split_at_mut(index);
            let output_gradient = &rest[0][..batch * node.output.size()];
            let size = batch * node.inputs[0].size();
            let mut reach = |source: Source| match source {
                Source::Input => std::mem::replace(&mut input_reached, true),
                Source::Node(i) => std::mem::replace(&mut reached[i], true),
            };
            let again = reach(from);
            let target: &mut [T] = match from {
                Source::Input if !wanted => &mut [],
                _ if again => &mut self.spare[..size],
                Source::Input => &mut *input_gradient,
                Source::Node(i) => &mut before[i][..size],
            };
            kernel.backward(Backward {
                theta: &theta[node.parameters.clone()],
                input: match from {
                    Source::Input => input,
                    Source::Node(i) => &self.outputs[i][..size],
                },
                output: &self.outputs[index][..batch * node.output.size()],
                output_gradient,
                input_gradient: target,
                gradient: &mut gradient[node.parameters.clone()],
                saved: &self.saved[index][..kernel.saved(node.inputs[0], batch)],
                scratch: &mut self.scratch,
                sums: &mut self.sums,
                batch,
                shape: node.inputs[0],
                mode,
            });
            if again {
                add(place(from, before, input_gradient, size), &self.spare[..size]);
            }
            if let Some(&other) = node.sources.get(1) {
                let place = place(other, before, input_gradient, size);
                if reach(other) {
                    add(place, output_gradient);
                } else {
                    place.copy_from_slice(&output_gradient[..place.len()]);
                }
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

/// Where the gradient goes that reaches a node or the input; nowhere when there is no room for it.
fn place<'a, T>(
    source: Source,
    layers: &'a mut [Vec<T>],
    input: &'a mut [T],
    size: usize,
) -> &'a mut [T] {
    match source {
        Source::Input => input,
        Source::Node(i) => &mut layers[i][..size],
    }
}

fn add<T: Real>(sums: &mut [T], values: &[T]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum = *sum + *value;
    }
}
