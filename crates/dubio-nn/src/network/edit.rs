//! Networks made from networks: with layers put in, or cut in two.

use super::{Network, Node, Source};
use crate::layer::Layer;
use crate::matrix::Reads;

fn is_linear(node: &Node) -> bool {
    matches!(node.layer, Layer::Linear { .. })
}

fn has_weights(node: &Node) -> bool {
    matches!(node.layer, Layer::Linear { .. } | Layer::Conv2d { .. })
}

impl Network {
    /// The network with one more layer in front of every linear one but those that read the input
    /// itself: behind each hidden activation of an `mlp`, before the last layer of a residual
    /// network. Parameters keep their names and their places in the flat vector, unless the layer changes what the
    /// linear ones read.
    pub fn in_front_of_linear(&self, name: &str, layer: &Layer) -> Self {
        self.put_in(name, layer, |node, reads| is_linear(node) && reads == Reads::Hidden)
    }

    /// The same in front of linear and convolutional layers that read the input itself.
    pub fn in_front_of_first(&self, name: &str, layer: &Layer) -> Self {
        self.put_in(name, layer, |node, reads| {
            matches!(node.layer, Layer::Linear { .. } | Layer::Conv2d { .. })
                && reads == Reads::Data
        })
    }

    /// The same in front of the last linear layer alone, whatever it reads.
    pub fn in_front_of_last_linear(&self, name: &str, layer: &Layer) -> Self {
        let last = self.nodes.iter().rev().find(|node| is_linear(node));
        self.put_in(name, layer, |node, _| last.is_some_and(|last| last.name == node.name))
    }

    /// The network with one more layer, which has no parameters and changes no shape, behind every linear and
    /// convolutional one but the last. Parameters keep their names and their places in the flat vector.
    pub fn behind_weights(&self, name: &str, layer: &Layer) -> Self {
        let last = self.nodes.iter().rposition(has_weights);
        let mut network = Self { nodes: Vec::new(), ..*self };
        let mut moved: Vec<Source> = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let now = |source: &Source| match *source {
                Source::Input => Source::Input,
                Source::Node(index) => moved[index],
            };
            let sources: Vec<Source> = node.sources.iter().map(now).collect();
            let mut end = network.feed(&sources, &node.name, node.layer.clone());
            if has_weights(node) && Some(index) != last {
                end = network.feed(&[end], format!("{}.{name}", node.name), layer.clone());
            }
            moved.push(end);
        }
        network
    }

    /// The network with one more layer in front of those chosen, which have one input.
    fn put_in(&self, name: &str, layer: &Layer, chosen: impl Fn(&Node, Reads) -> bool) -> Self {
        let mut network = Self { nodes: Vec::new(), ..*self };
        // Where the outputs of an old node are now, and what they are.
        let mut moved: Vec<(Source, Reads)> = Vec::new();
        for node in &self.nodes {
            let now = |source: &Source| match *source {
                Source::Input => (Source::Input, Reads::Data),
                Source::Node(index) => moved[index],
            };
            let mut sources: Vec<Source> =
                node.sources.iter().map(|source| now(source).0).collect();
            let reads = now(&node.sources[0]).1;
            if chosen(node, reads) {
                sources =
                    vec![network.feed(&sources, format!("{}.{name}", node.name), layer.clone())];
            }
            let gives = if node.layer == Layer::Flatten { reads } else { Reads::Hidden };
            moved.push((network.feed(&sources, &node.name, node.layer.clone()), gives));
        }
        network
    }

    /// The network with hidden layers of other widths: units of linear layers, channels of convolutions. Outputs stay.
    pub fn with_widths(&self, width: impl Fn(usize) -> usize) -> Self {
        let mut network = Self { nodes: Vec::new(), ..*self };
        let mut is_output = vec![false; self.nodes.len()];
        self.mark_outputs(self.end(), &mut is_output);
        for (node, is_output) in self.nodes.iter().zip(is_output) {
            let mut layer = node.layer.clone();
            if let Layer::Linear { outputs: own }
            | Layer::Conv2d { channels: own, .. }
            | Layer::PaddedShortcut { channels: own } = &mut layer
                && !is_output
            {
                *own = width(*own);
            }
            network.feed(&node.sources, &node.name, layer);
        }
        network
    }

    /// Marks the layers whose widths are those of the outputs: nothing with weights comes after them.
    fn mark_outputs(&self, source: Source, is_output: &mut [bool]) {
        let Source::Node(index) = source else { return };
        is_output[index] = true;
        let node = &self.nodes[index];
        if !has_weights(node) {
            node.sources.iter().for_each(|&source| self.mark_outputs(source, is_output));
        }
    }

    /// The first layer of the part of the network that has the parameters of the flat vector from `at` on, if the
    /// layers before it can stand apart: they have parameters, are a function of the input alone (no noise), and are
    /// read at their end only.
    pub fn seam(&self, at: usize) -> Option<usize> {
        let mut first = self.nodes.iter().position(|node| node.parameters.contains(&at))?;
        // Noise in front of it differs at every step, and so belongs to this part.
        while first > 0 && self.nodes[first - 1].layer.is_noisy() {
            first -= 1;
        }
        let (before, after) = self.nodes.split_at(first);
        let fixed = |node: &Node| !node.layer.is_noisy();
        let reads = |source: &Source| matches!(*source, Source::Node(i) if i + 1 >= first);
        let apart = |node: &Node| node.sources.iter().all(reads);
        let learnt = before.last().is_some_and(|node| node.parameters.end > 0);
        (learnt && before.iter().all(fixed) && after.iter().all(apart)).then_some(first)
    }

    /// The network in two at a [seam](Self::seam): what the first gives, the second reads.
    pub fn split(&self, seam: usize) -> (Self, Self) {
        let (before, after) = self.nodes.split_at(seam);
        let first = Self { nodes: before.to_vec(), ..*self };
        let mut second = Self { reads: Reads::Hidden, ..Self::new(first.output()) };
        let now = |source: &Source| match *source {
            Source::Node(index) if index >= seam => Source::Node(index - seam),
            _ => Source::Input,
        };
        for node in after {
            let sources: Vec<Source> = node.sources.iter().map(now).collect();
            second.feed(&sources, &node.name, node.layer.clone());
        }
        (first, second)
    }
}
