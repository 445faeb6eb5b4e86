//! Which activations and gradients lie in bfloat16: those that only Hopper's convolutions, which round them anyway, and
//! batch normalisations read and write. Half as many bytes are moved, and nothing is converted.

use super::layers::Halved;
use crate::layer::{Bias, Layer};
use crate::network::{Node, Source};

/// What of a network's nodes can lie in bfloat16 while it learns by statistics of the batch.
pub(super) struct Halves {
    outputs: Vec<bool>,
    gradients: Vec<bool>,
}

impl Halves {
    /// `joined` are activations that are worked out with the layer before them; `can` says which layers read and write
    /// bfloat16.
    pub(super) fn of(nodes: &[Node], joined: &[bool], can: impl Fn(&Node) -> bool) -> Self {
        let halves = |index: usize| can(&nodes[index]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use crate::networks;
    use crate::shape::Shape;

    /// Names of the layers whose outputs, and whose gradients, lie in bfloat16 if convolutions and normalisations can.
    fn halved(network: &Network) -> [Vec<&str>; 2] {
        let nodes = network.nodes();
        let normalises = |index: usize| nodes[index].layer == Layer::BatchNorm;
        let joined: Vec<bool> = (0..nodes.len())
            .map(|index| nodes[index].layer == Layer::Relu && index > 0 && normalises(index - 1))
            .collect();
        let can = |node: &Node| matches!(node.layer, Layer::Conv2d { .. } | Layer::BatchNorm);
        let halves = Halves::of(nodes, &joined, can);
        [&halves.outputs, &halves.gradients].map(|which| {
            let named = nodes.iter().zip(which).filter(|(_, halved)| **halved);
            named.map(|(node, _)| &node.name[..]).collect()
        })
    }

    /// The sum of branches is read by others than convolutions, and so is what the last normalisation gives.
    #[test]
    fn within_a_residual_block_all_but_the_sum_is_halved() {
        let network = networks::build("wideresnet10x1", Shape::image(3, 16, 16), 4);
        let network = network.expect("a network");
        let inside = ["relu1", "conv1", "relu2"];
        let of_stage = |stage| inside.map(|layer| format!("layer{stage}.0.{layer}"));
        let expected: Vec<String> = (1..=3).flat_map(of_stage).collect();
        assert_eq!(halved(&network), [expected.clone(), expected]);
    }

    #[test]
    fn gradients_are_not_halved_if_they_are_added_up_or_those_of_biases() {
        let mut network = Network::new(Shape::image(8, 4, 4));
        let bias = Bias::Yes;
        network
            .then("biased", Layer::Conv2d { channels: 8, kernel: 1, stride: 1, padding: 0, bias });
        network.then("norm", Layer::BatchNorm);
        let start = network.then("relu", Layer::Relu);
        let branch = network.then("branch", Layer::conv2d(8, 3, 1));
        let other = network.feed(&[start], "other", Layer::conv2d(8, 1, 1));
        network.add(branch, other, "sum");
        assert_eq!(halved(&network), [vec!["biased", "relu"], vec![]]);
    }
}
