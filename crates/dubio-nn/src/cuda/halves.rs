//! Which activations and gradients lie in bfloat16: those that only Hopper's convolutions, which round them anyway, and
//! batch normalisations read and write. Half as many bytes are moved, and nothing is converted.

use super::device::Device;
use super::layers::{self, Halved};
use crate::layer::{Bias, Layer};
use crate::network::{Node, Source};

/// What of a network's nodes can lie in bfloat16 while it learns by statistics of the batch.
pub(super) struct Halves {
    outputs: Vec<bool>,
    gradients: Vec<bool>,
}

impl Halves {
    /// `joined` are activations that are worked out with the layer before them.
    pub(super) fn of(nodes: &[Node], joined: &[bool], device: &Device) -> Self {
        let halves = |index: usize| layers::halves(&nodes[index], device);
        let readers = |index: usize| -> Vec<usize> {
            let reads = |reader: &usize| nodes[*reader].sources.contains(&Source::Node(index));
            (0..nodes.len()).filter(reads).collect()
        };
        // Who works out the output, and the gradient of the input.
        let worker = |index: usize| if joined[index] { index - 1 } else { index };
        let output = |index: usize| {
            let readers = readers(index);
            halves(worker(index)) && !readers.is_empty() && readers.into_iter().all(halves)
        };
        let outputs: Vec<bool> = (0..nodes.len()).map(output).collect();
        // A gradient that comes from several readers is added up, and one of biases in single precision.
        let gradient = |index: usize| {
            let has_biases = matches!(nodes[index].layer, Layer::Conv2d { bias: Bias::Yes, .. });
            outputs[index] && readers(index).len() == 1 && !has_biases
        };
        Self { gradients: (0..nodes.len()).map(gradient).collect(), outputs }
    }

    /// What lies in bfloat16 around a node.
    pub(super) fn around(&self, index: usize, node: &Node) -> Halved {
        let of_source = |halved: &[bool]| match node.sources[..] {
            [Source::Node(source)] => halved[source],
            _ => false,
        };
        Halved {
            input: of_source(&self.outputs),
            output: self.outputs[index],
            input_gradient: of_source(&self.gradients),
            output_gradient: self.gradients[index],
        }
    }
}
