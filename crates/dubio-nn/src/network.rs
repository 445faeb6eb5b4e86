//! A network as plain data: a graph of layers, without numbers and without kernels.
//!
//! It can be built, compared, counted, cut and rewritten; an engine turns it into a function of one
//! flat vector.

mod edit;
mod perturbed;

use std::ops::Range;

pub use perturbed::Perturbation;

use crate::layer::Layer;
use crate::matrix::{Matrix, Reads, Side};
use crate::parameter::{Parameter, Slice};
use crate::shape::Shape;

/// Where activations come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The network's input.
    Input,
    /// An earlier node.
    Node(usize),
}

/// A layer in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Path of names, as PyTorch would call it: `layer1.0.conv1`.
    pub name: String,
    /// What it does.
    pub layer: Layer,
    /// What feeds it, one for each input of the layer.
    pub sources: Vec<Source>,
    /// The shapes that come in.
    pub inputs: Vec<Shape>,
    /// The shape that goes out.
    pub output: Shape,
    /// Its stretch of the flat vector.
    pub parameters: Range<usize>,
    /// Its stretch of the running statistics.
    pub statistics: Range<usize>,
}

impl Node {
    /// Its parameters with their stretches of the flat vector.
    pub fn parameters(&self) -> impl Iterator<Item = (Parameter, Range<usize>)> {
        one_after_another(self.layer.parameters(&self.inputs), self.parameters.start)
    }

    /// Its running statistics with their stretches of all of them.
    pub fn statistics(&self) -> impl Iterator<Item = (Parameter, Range<usize>)> {
        one_after_another(self.layer.statistics(&self.inputs), self.statistics.start)
    }

    /// Whether it has parameters, and all of them lie outside those that move. Such a layer computes as in evaluation,
    /// and its running statistics stay.
    pub fn stays(&self, moving: &Range<usize>) -> bool {
        let Range { start, end } = self.parameters;
        start < end && (end <= moving.start || moving.end <= start)
    }

    /// The whole name of a parameter: `layer1.0.conv1.weight`.
    pub fn path(&self, parameter: &Parameter) -> String {
        format!("{}.{}", self.name, parameter.name)
    }
}

fn one_after_another(
    parameters: Vec<Parameter>,
    mut start: usize,
) -> impl Iterator<Item = (Parameter, Range<usize>)> {
    parameters.into_iter().map(move |parameter| {
        let range = start..start + parameter.size();
        start = range.end;
        (parameter, range)
    })
}

/// Layers in an order in which each comes after what feeds it. The last is the output.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Shape of an input.
    pub input: Shape,
    /// What an input is: data, or, in the second part of a network that was cut in two, what the first part gives.
    pub reads: Reads,
    nodes: Vec<Node>,
}

impl Network {
    /// An empty network for inputs of this shape.
    pub fn new(input: Shape) -> Self {
        Self { input, reads: Reads::Data, nodes: Vec::new() }
    }

    /// The layers in their places.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Where the next layer is fed from by default: the last layer, or the input.
    pub fn end(&self) -> Source {
        self.nodes.len().checked_sub(1).map_or(Source::Input, Source::Node)
    }

    /// The shape that comes from a source.
    pub fn shape(&self, source: Source) -> Shape {
        match source {
            Source::Input => self.input,
            Source::Node(index) => self.nodes[index].output,
        }
    }

    /// Adds a layer fed by the last one.
    pub fn then(&mut self, name: impl Into<String>, layer: Layer) -> Source {
        self.feed(&[self.end()], name, layer)
    }

    /// Adds the sum of two branches, which must have one shape.
    pub fn add(&mut self, branch: Source, other: Source, name: impl Into<String>) -> Source {
        self.feed(&[branch, other], name, Layer::Add)
    }

    /// Adds a layer fed from anywhere, by as many sources as it takes.
    pub fn feed(&mut self, sources: &[Source], name: impl Into<String>, layer: Layer) -> Source {
        self.feed_at(self.parameters(), sources, name, layer)
    }

    /// The same with parameters that lie from `start` on in the flat vector.
    fn feed_at(
        &mut self,
        start: usize,
        sources: &[Source],
        name: impl Into<String>,
        layer: Layer,
    ) -> Source {
        let inputs: Vec<Shape> = sources.iter().map(|&source| self.shape(source)).collect();
        assert!(layer.takes(&inputs), "{layer:?} does not take inputs of shapes {inputs:?}");
        let count = |all: Vec<Parameter>| all.iter().map(Parameter::size).sum::<usize>();
        let first = self.statistics();
        self.nodes.push(Node {
            name: name.into(),
            sources: sources.to_vec(),
            output: layer.output(&inputs),
            parameters: start..start + count(layer.parameters(&inputs)),
            statistics: first..first + count(layer.statistics(&inputs)),
            layer,
            inputs,
        });
        self.end()
    }

    /// Every parameter's name and stretch of the flat vector.
    pub fn slices(&self) -> Vec<Slice> {
        let of = |node: &Node| {
            let named = |(parameter, range)| Slice { name: node.path(&parameter), range };
            node.parameters().map(named).collect::<Vec<_>>()
        };
        self.nodes.iter().flat_map(of).collect()
    }

    /// The weights of linear and convolutional layers, in their order.
    pub fn matrices(&self) -> Vec<Matrix> {
        self.nodes.iter().filter_map(|node| self.matrix(node)).collect()
    }

    fn matrix(&self, node: &Node) -> Option<Matrix> {
        let inputs = match node.layer {
            Layer::Linear { .. } => Side::Columns,
            Layer::Conv2d { .. } => Side::Rows,
            _ => return None,
        };
        let mut own = node.parameters();
        let (weight, range) = own.next()?;
        let bias = own.next().map_or(0..0, |(_, range)| range);
        let [.., rows, columns] = weight.dims[..] else { return None };
        let reads = self.read_by(node);
        Some(Matrix { range, rows, columns, inputs, bias, reads })
    }

    /// What a node reads: a flattened image is still the image.
    fn read_by(&self, node: &Node) -> Reads {
        match node.sources[0] {
            Source::Input => self.reads,
            Source::Node(index) if self.nodes[index].layer == Layer::Flatten => {
                self.read_by(&self.nodes[index])
            }
            Source::Node(_) => Reads::Hidden,
        }
    }

    /// Length of the flat vector.
    pub fn parameters(&self) -> usize {
        self.nodes.iter().map(|node| node.parameters.end).max().unwrap_or(0)
    }

    /// Number of running statistics.
    pub fn statistics(&self) -> usize {
        self.nodes.last().map_or(0, |node| node.statistics.end)
    }

    /// Whether running statistics move while these parameters do: some layer that is not frozen normalises over
    /// the batch, so that the loss of an example depends on the others.
    pub fn moves_statistics(&self, moving: &Range<usize>) -> bool {
        self.nodes.iter().any(|node| !node.statistics.is_empty() && !node.stays(moving))
    }

    /// Shape of an output.
    pub fn output(&self) -> Shape {
        self.shape(self.end())
    }

    /// Multiply-accumulates for one example.
    pub fn macs(&self) -> u64 {
        self.nodes.iter().map(|node| node.layer.macs(&node.inputs)).sum()
    }

    /// The image whose numbers come from a source, flattened or not, each still in its place; `None` for a plain
    /// vector.
    pub(crate) fn image(&self, source: Source) -> Option<Shape> {
        let shape = self.shape(source);
        match source {
            _ if shape.places() > 1 => Some(shape),
            Source::Node(index) if self.nodes[index].layer.keeps_order() => {
                self.image(self.nodes[index].sources[0])
            }
            _ => None,
        }
    }
}
