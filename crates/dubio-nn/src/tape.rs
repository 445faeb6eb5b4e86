//! A network as a list of layers, each fed by an earlier one.

use std::ops::Range;

use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;

use crate::engine::Slice;
use crate::layers::{Backward, Forward, Layer, Mode, PIECE, Parameter, Start};
use crate::real::Real;
use crate::shape::Shape;

/// Where activations come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The network's input.
    Input,
    /// An earlier layer.
    Layer(usize),
}

/// A layer in its place.
pub struct Node<T> {
    /// Path of names, as PyTorch would call it: `layer1.0.conv1`.
    pub name: String,
    /// The rule.
    pub layer: Box<dyn Layer<T>>,
    /// What feeds it.
    pub from: From,
    /// What else feeds it, for a layer that adds.
    pub other: Option<From>,
    /// Shape that comes in.
    pub input: Shape,
    /// Shape that goes out.
    pub output: Shape,
    /// Its stretch of the flat vector.
    pub parameters: Range<usize>,
    /// Its stretch of the running statistics.
    pub statistics: Range<usize>,
}

impl<T: Real> Node<T> {
    /// Its parameters with their stretches of the flat vector.
    pub fn slices(&self) -> Vec<(Parameter, Range<usize>)> {
        let mut start = self.parameters.start;
        let each = self.layer.parameters(self.input).into_iter().map(|parameter| {
            let range = start..start + parameter.size();
            start = range.end;
            (parameter, range)
        });
        each.collect()
    }
}

/// A network: layers in an order in which each comes after what feeds it. The last is the output.
pub struct Tape<T> {
    /// Shape of an input.
    pub input: Shape,
    /// The layers.
    pub nodes: Vec<Node<T>>,
}

impl<T: Real> Tape<T> {
    /// An empty network for inputs of this shape.
    pub fn new(input: Shape) -> Self {
        Self { input, nodes: Vec::new() }
    }

    /// Where the next layer would be fed from by default: the last layer, or the input.
    pub fn end(&self) -> From {
        self.nodes.len().checked_sub(1).map_or(From::Input, From::Layer)
    }

    /// The shape that comes from there.
    pub fn shape(&self, from: From) -> Shape {
        match from {
            From::Input => self.input,
            From::Layer(index) => self.nodes[index].output,
        }
    }

    /// Adds a layer fed by the last one.
    pub fn then(&mut self, name: impl Into<String>, layer: impl Layer<T> + 'static) -> From {
        self.feed(self.end(), name, layer)
    }

    /// Adds a layer fed from somewhere.
    pub fn feed(
        &mut self,
        from: From,
        name: impl Into<String>,
        layer: impl Layer<T> + 'static,
    ) -> From {
        self.push(from, None, name.into(), Box::new(layer))
    }

    /// Adds the sum of two branches, which must have one shape.
    pub fn add(&mut self, from: From, other: From, name: impl Into<String>) -> From {
        assert_eq!(self.shape(from), self.shape(other), "branches of different shapes");
        self.push(from, Some(other), name.into(), Box::new(crate::layers::residual::Residual))
    }

    /// The network with one more layer in front of every linear one but those that read the input
    /// itself: behind each hidden activation of an `mlp`, before the last layer of a residual
    /// network. Parameters keep their names and their places in the flat vector.
    pub fn in_front_of_linear(self, name: &str, layer: impl Fn() -> Box<dyn Layer<T>>) -> Self {
        let mut tape = Self::new(self.input);
        // Where the outputs of an old layer are now, and whether they are the input unchanged.
        let mut moved: Vec<(From, bool)> = Vec::new();
        for node in self.nodes {
            let now = |from: From, moved: &[(From, bool)]| match from {
                From::Input => (From::Input, true),
                From::Layer(index) => moved[index],
            };
            let (mut from, is_input) = now(node.from, &moved);
            if node.layer.kind() == "linear" && !is_input {
                let path = format!("{}.{name}", node.name);
                from = tape.push(from, None, path, layer());
            }
            let other = node.other.map(|other| now(other, &moved).0);
            let stays = is_input && node.layer.kind() == "flatten";
            moved.push((tape.push(from, other, node.name, node.layer), stays));
        }
        tape
    }

    /// The first layer of the end of the network that has the parameters from `at` of the flat vector
    /// on, if what is before it can stand apart: has parameters, is a function of the input alone
    /// (no noise, no running statistics), and is read at its end only.
    pub fn seam(&self, at: usize) -> Option<usize> {
        let mut first = self.nodes.iter().position(|node| node.parameters.contains(&at))?;
        // Noise in front of it is another at every step, and so belongs to what is stepped.
        while first > 0 && self.nodes[first - 1].layer.is_noisy() {
            first -= 1;
        }
        let (before, after) = self.nodes.split_at(first);
        let fixed = |node: &Node<T>| !node.layer.is_noisy() && node.statistics.is_empty();
        let reads = |from: From| matches!(from, From::Layer(index) if index + 1 >= first);
        let apart = |node: &Node<T>| reads(node.from) && node.other.is_none_or(reads);
        let learnt = before.last().is_some_and(|node| node.parameters.end > 0);
        (learnt && before.iter().all(fixed) && after.iter().all(apart)).then_some(first)
    }

    /// The network in two at a [seam](Self::seam): what the first gives, the second reads.
    pub fn split(mut self, seam: usize) -> (Self, Self) {
        let after = self.nodes.split_off(seam);
        let mut second = Self::new(self.output());
        let now = |from: From| match from {
            From::Layer(index) if index >= seam => From::Layer(index - seam),
            _ => From::Input,
        };
        for Node { name, layer, from, other, .. } in after {
            second.push(now(from), other.map(now), name, layer);
        }
        (self, second)
    }

    fn push(
        &mut self,
        from: From,
        other: Option<From>,
        name: String,
        layer: Box<dyn Layer<T>>,
    ) -> From {
        let input = self.shape(from);
        let last = self.nodes.last();
        let start = last.map_or(0, |node| node.parameters.end);
        let count: usize = layer.parameters(input).iter().map(Parameter::size).sum();
        let first = last.map_or(0, |node| node.statistics.end);
        let statistics = first..first + layer.statistics(input);
        let output = layer.output(input);
        let parameters = start..start + count;
        self.nodes.push(Node { name, layer, from, other, input, output, parameters, statistics });
        self.end()
    }

    /// Every parameter's name and stretch of the flat vector.
    pub fn slices(&self) -> Vec<Slice> {
        let parameters = self.nodes.iter().flat_map(|node| {
            node.slices().into_iter().map(|(parameter, range)| Slice {
                name: format!("{}.{}", node.name, parameter.name),
                range,
            })
        });
        parameters.collect()
    }

    /// Length of the flat vector.
    pub fn parameters(&self) -> usize {
        self.nodes.last().map_or(0, |node| node.parameters.end)
    }

    /// Number of running statistics.
    pub fn statistics(&self) -> usize {
        self.nodes.last().map_or(0, |node| node.statistics.end)
    }

    /// Shape of an output.
    pub fn output(&self) -> Shape {
        self.shape(self.end())
    }

    /// Multiply-accumulates for one example.
    pub fn macs(&self) -> u64 {
        self.nodes.iter().map(|node| node.layer.macs(node.input)).sum()
    }

    /// A starting point, each parameter from a stream of its own name.
    pub fn start(&self, stream: &Stream) -> Vec<T> {
        let mut theta = vec![T::zero(); self.parameters()];
        for node in &self.nodes {
            for (parameter, range) in node.slices() {
                let name = format!("{}.{}", node.name, parameter.name);
                fill(&mut theta[range], parameter.start, &stream.child(&name));
            }
        }
        theta
    }

    /// Running statistics of a network that has seen nothing.
    pub fn rest(&self) -> Vec<T> {
        let mut statistics = vec![T::zero(); self.statistics()];
        for node in &self.nodes {
            node.layer.rest(&mut statistics[node.statistics.clone()]);
        }
        statistics
    }
}

fn fill<T: Real>(values: &mut [T], start: Start, stream: &Stream) {
    let mut generator = stream.generator();
    match start {
        Start::Constant(value) => values.fill(T::of(value)),
        Start::Uniform { fan } => {
            let reach = 1.0 / (fan as f64).sqrt();
            let mut draw = || T::of(reach * (2.0 * uniform(&mut generator) - 1.0));
            values.iter_mut().for_each(|v| *v = draw());
        }
        Start::He { fan } => {
            values.fill(T::zero());
            T::add_normals(values, (2.0 / fan as f64).sqrt(), &mut generator);
        }
    }
}

/// Buffers for batches of up to some size, allocated once.
pub struct Workspace<T> {
    capacity: usize,
    outputs: Vec<Vec<T>>,
    gradients: Vec<Vec<T>>,
    saved: Vec<Vec<T>>,
    scratch: Vec<T>,
    sums: Vec<f64>,
    /// For the second gradient that reaches a layer with two readers.
    spare: Vec<T>,
    /// Which layers a gradient has reached on the way back.
    reached: Vec<bool>,
}

impl<T: Real> Workspace<T> {
    /// Room for `capacity` examples at a time.
    pub fn new(tape: &Tape<T>, capacity: usize) -> Self {
        let zeros = |size: usize| vec![T::zero(); size];
        let pieces = capacity.div_ceil(PIECE);
        let scratch = tape.nodes.iter().map(|node| node.layer.scratch(node.input)).max();
        let sums = tape.nodes.iter().map(|node| node.layer.sums(node.input)).max();
        let largest = tape.nodes.iter().map(|node| node.input.size()).max().unwrap_or(0);
        Self {
            capacity,
            outputs: tape.nodes.iter().map(|n| zeros(n.output.size() * capacity)).collect(),
            gradients: tape.nodes.iter().map(|n| zeros(n.output.size() * capacity)).collect(),
            saved: tape.nodes.iter().map(|n| zeros(n.layer.saved(n.input, capacity))).collect(),
            scratch: zeros(scratch.unwrap_or(0) * pieces),
            sums: vec![0.0; sums.unwrap_or(0)],
            spare: zeros(largest * capacity),
            reached: vec![false; tape.nodes.len()],
        }
    }

    /// Examples that fit.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// What a layer put out for the last batch.
    pub fn activations(&self, tape: &Tape<T>, node: usize, batch: usize) -> &[T] {
        &self.outputs[node][..batch * tape.nodes[node].output.size()]
    }

    /// Gradient of the loss with respect to what a layer put out for the last batch.
    pub fn output_gradients(&self, tape: &Tape<T>, node: usize, batch: usize) -> &[T] {
        &self.gradients[node][..batch * tape.nodes[node].output.size()]
    }

    /// Runs the network on a batch; gives the outputs, `[batch, outputs]`.
    pub fn forward(
        &mut self,
        tape: &Tape<T>,
        theta: &[T],
        statistics: &mut [T],
        input: &[T],
        mode: &Mode,
    ) -> &[T] {
        let batch = input.len() / tape.input.size();
        assert!(batch <= self.capacity, "a batch larger than the workspace");
        for (index, node) in tape.nodes.iter().enumerate() {
            let (before, rest) = self.outputs.split_at_mut(index);
            let read = |from: From| match from {
                From::Input => input,
                From::Layer(i) => &before[i][..batch * tape.nodes[i].output.size()],
            };
            let noise = mode.noise.as_ref().filter(|_| node.layer.is_noisy());
            let noise = noise.map(|stream| stream.child(&node.name));
            node.layer.forward(Forward {
                theta: &theta[node.parameters.clone()],
                input: read(node.from),
                other: node.other.map_or(&[], read),
                output: &mut rest[0][..batch * node.output.size()],
                saved: {
                    let size = node.layer.saved(node.input, batch);
                    &mut self.saved[index][..size]
                },
                scratch: &mut self.scratch,
                sums: &mut self.sums,
                statistics: &mut statistics[node.statistics.clone()],
                batch,
                shape: node.input,
                mode,
                noise: noise.as_ref(),
            });
        }
        self.activations(tape, tape.nodes.len() - 1, batch)
    }

    /// Runs gradients back through the last batch. The gradient of the outputs is taken from
    /// `seed`.
    pub fn backward(
        &mut self,
        tape: &Tape<T>,
        theta: &[T],
        input: &[T],
        seed: &[T],
        mode: &Mode,
        into: Gradients<'_, T>,
    ) {
        let Gradients { parameters: gradient, inputs: input_gradient } = into;
        let batch = input.len() / tape.input.size();
        let last = tape.nodes.len() - 1;
        self.gradients[last][..seed.len()].copy_from_slice(seed);
        let reached = &mut self.reached;
        reached.fill(false);
        reached[last] = true;
        let mut input_reached = false;
        let wanted = !input_gradient.is_empty();
        for (index, node) in tape.nodes.iter().enumerate().rev() {
            let learns = node.from != From::Input || !node.parameters.is_empty() || wanted;
            if !reached[index] || !learns {
                continue; // nobody needs what would come of it
            }
            let (before, rest) = self.gradients.split_at_mut(index);
            let output_gradient = &rest[0][..batch * node.output.size()];
            let size = batch * node.input.size();
            let mut reach = |from: From| match from {
                From::Input => std::mem::replace(&mut input_reached, true),
                From::Layer(i) => std::mem::replace(&mut reached[i], true),
            };
            let again = reach(node.from);
            let target: &mut [T] = match node.from {
                From::Input if !wanted => &mut [],
                _ if again => &mut self.spare[..size],
                From::Input => &mut *input_gradient,
                From::Layer(i) => &mut before[i][..size],
            };
            node.layer.backward(Backward {
                theta: &theta[node.parameters.clone()],
                input: match node.from {
                    From::Input => input,
                    From::Layer(i) => &self.outputs[i][..size],
                },
                output: &self.outputs[index][..batch * node.output.size()],
                output_gradient,
                input_gradient: target,
                gradient: &mut gradient[node.parameters.clone()],
                saved: &self.saved[index][..node.layer.saved(node.input, batch)],
                scratch: &mut self.scratch,
                sums: &mut self.sums,
                batch,
                shape: node.input,
                mode,
            });
            if again {
                add(place(node.from, before, input_gradient, size), &self.spare[..size]);
            }
            if let Some(other) = node.other {
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
pub struct Gradients<'a, T> {
    /// That of the parameters is added here.
    pub parameters: &'a mut [T],
    /// That of the inputs replaces this; empty when nobody needs it.
    pub inputs: &'a mut [T],
}

/// Where the gradient goes that reaches a layer or the input; nowhere when there is no room for it.
fn place<'a, T>(
    from: From,
    layers: &'a mut [Vec<T>],
    input: &'a mut [T],
    size: usize,
) -> &'a mut [T] {
    match from {
        From::Input => input,
        From::Layer(i) => &mut layers[i][..size],
    }
}

fn add<T: Real>(sums: &mut [T], values: &[T]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum = *sum + *value;
    }
}
