//! The weights of hidden layers as matrices: what a bound on their norm is about.

use std::ops::Range;

use dubio_nn::layer::Layer;
use dubio_nn::network::{Network, Node};

/// The weights of a linear or convolutional layer as a matrix without biases, which lies row after row in the flat vector:
/// `[outputs, inputs]`, or `[kernel kernel channels, channels out]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenLayer {
    /// Its stretch of the flat vector.
    pub weights: Range<usize>,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// What it does with them.
    pub operation: Operation,
}

/// What a layer does with its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A product with all that comes in.
    Linear,
    /// A product with every window.
    Convolution,
}

impl HiddenLayer {
    /// Of a layer; `None` where it has no such weights.
    fn of(node: &Node) -> Option<Self> {
        let operation = match node.layer {
            Layer::Linear { .. } => Operation::Linear,
            Layer::Conv2d { .. } => Operation::Convolution,
            _ => return None,
        };
        let (weight, weights) = node.parameters().next()?;
        let columns = *weight.dims.last()?;
        Some(Self { rows: weights.len() / columns, weights, columns, operation })
    }

    /// Those of a network: all but the last of them, which gives the outputs.
    pub fn all(network: &Network) -> Vec<Self> {
        let mut all: Vec<Self> = network.nodes().iter().filter_map(Self::of).collect();
        all.pop();
        all
    }

    /// As it lies in a stretch of the flat vector; `None` where it is outside it.
    pub(crate) fn within(mut self, stretch: &Range<usize>) -> Option<Self> {
        let Range { start, end } = self.weights;
        let inside = stretch.start <= start && end <= stretch.end;
        self.weights = start.wrapping_sub(stretch.start)..end.wrapping_sub(stretch.start);
        inside.then_some(self)
    }
}
