//! A network whose weights are random, each example with a draw of its own: what variational methods take gradients of.
//!
//! Its flat vector has two halves, each as long as that of the network it is made of. The second has the means of all
//! parameters. The first has what the noise of a weight is made of, at the same places; where a layer's parameters are
//! not perturbed it is not read.

use std::ops::Range;

use super::{Network, Node, Source};
use crate::layer::Layer;

/// How the weights and biases of linear and convolutional layers are perturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Perturbation {
    /// The local reparameterisation: `y = layer(x; means) + sqrt(layer(x^2; variances)) z`, with a normal number `z` for
    /// every example and output. The first half of the vector has variances. In a linear layer this is the
    /// distribution of the outputs under independent normal weights, drawn for each example. In a convolution, every
    /// place has the right mean and variance, but its noise is its own, though all places share their weights: an
    /// approximation. Kingma et al. 2015.
    Local,
    /// Flipout: `y = layer(x; means) + r layer(s x; shifts)`, with random signs for every example, `s` for each channel
    /// that comes in and `r` for each that goes out; a bias is perturbed by `r` times its shift. The first half of the
    /// vector has shifts, a draw that all examples share. Each example has weights of its own, `means + r s shifts`, the
    /// same at all places. Wen et al. 2018.
    Flipout,
}

impl Node {
    /// Whether it is perturbed where these parameters move.
    fn is_perturbed(&self, moving: &Range<usize>) -> bool {
        matches!(self.layer, Layer::Linear { .. } | Layer::Conv2d { .. }) && !self.stays(moving)
    }
}

impl Network {
    /// The stretches of the flat vector that [`Self::perturbed`] perturbs.
    pub fn perturbable(&self, moving: &Range<usize>) -> Vec<Range<usize>> {
        let perturbed = self.nodes.iter().filter(|node| node.is_perturbed(moving));
        perturbed.map(|node| node.parameters.clone()).collect()
    }

    /// The network with perturbed linear and convolutional layers, if some of their parameters move. The others, and
    /// the running statistics, are those of this network.
    pub fn perturbed(&self, moving: &Range<usize>, by: Perturbation) -> Self {
        let length = self.parameters();
        let mut network = Self { nodes: Vec::new(), ..*self };
        // Where the outputs of an old node are now.
        let mut moved: Vec<Source> = Vec::new();
        for node in &self.nodes {
            let now = |source: &Source| match *source {
                Source::Input => Source::Input,
                Source::Node(index) => moved[index],
            };
            let sources: Vec<Source> = node.sources.iter().map(now).collect();
            let start = length + node.parameters.start;
            let plain = network.feed_at(start, &sources, &node.name, node.layer.clone());
            moved.push(if node.is_perturbed(moving) {
                network.perturb(node, sources[0], plain, by)
            } else {
                plain
            });
        }
        network
    }

    /// Adds noise to the outputs of a layer that reads `input`; the outputs are the means.
    fn perturb(&mut self, node: &Node, input: Source, means: Source, by: Perturbation) -> Source {
        let named = |what: &str| format!("{}.{what}", node.name);
        let (start, layer) = (node.parameters.start, node.layer.clone());
        match by {
            Perturbation::Local => {
                let squares = self.feed(&[input], named("squares"), Layer::Square);
                let variances = self.feed_at(start, &[squares], named("variances"), layer);
                self.feed(&[means, variances], named("draw"), Layer::DrawNormal)
            }
            Perturbation::Flipout => {
                let flipped = self.feed(&[input], named("signs_in"), Layer::RandomSigns);
                let shifts = self.feed_at(start, &[flipped], named("shifts"), layer);
                let shifts = self.feed(&[shifts], named("signs_out"), Layer::RandomSigns);
                self.add(means, shifts, named("draw"))
            }
        }
    }
}
