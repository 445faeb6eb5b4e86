//! `preresnetN`: residual networks for CIFAR with normalisation before convolution.

use super::{Built, Card, at_least, number_in};
use crate::layer::Layer;
use crate::layer::Layer::{BatchNorm, Flatten, GlobalAveragePool, Linear, Relu};
use crate::network::{Network, Source};
use crate::shape::Shape;

/// Two 3x3 convolutions a block below 44 layers, bottlenecks from there on.
pub const CARD: Card = Card {
    name: "preresnetN",
    summary: "Pre-activation residual network for CIFAR; N is 20, 56, 110 or 164 (bottlenecks from 56 on).",
    citation: "He et al. 2016, Identity mappings; as used by Ashukha et al. 2020",
};

pub(super) fn build(name: &str, thin: usize, input: Shape, outputs: usize) -> Built {
    let depth = number_in(name, "preresnet", "")?;
    if ![20, 56, 110, 164].contains(&depth) {
        return Some(Err(format!("{name}: the depth must be 20, 56, 110 or 164")));
    }
    if let Err(why) = at_least(input, 4, name) {
        return Some(Err(why));
    }
    let width = (16 / thin).max(2);
    let bottleneck = depth >= 44;
    let mut network = Network::new(input);
    network.then("conv1", Layer::conv2d(width, 3, 1));
    for stage in 0..3 {
        for block in 0..(depth - 2) / if bottleneck { 9 } else { 6 } {
            let block = Block {
                name: format!("layer{}.{block}", stage + 1),
                channels: width << stage,
                stride: if stage > 0 && block == 0 { 2 } else { 1 },
            };
            if bottleneck {
                block.add_bottleneck(&mut network)
            } else {
                block.add_basic(&mut network)
            }
        }
    }
    network.then("bn", BatchNorm);
    network.then("relu", Relu);
    network.then("pool", GlobalAveragePool);
    network.then("flatten", Flatten);
    network.then("fc", Linear { outputs });
    Some(Ok(network))
}

struct Block {
    name: String,
    channels: usize,
    stride: usize,
}

impl Block {
    /// Normalisation, activation, convolution: the `index`-th of the block.
    fn step(&self, network: &mut Network, index: usize, conv: Layer) {
        network.then(format!("{}.bn{index}", self.name), BatchNorm);
        network.then(format!("{}.relu{index}", self.name), Relu);
        network.then(format!("{}.conv{index}", self.name), conv);
    }

    fn close(&self, network: &mut Network, start: Source, channels: usize) {
        let branch = network.end();
        let shortcut = if network.shape(start) == network.shape(branch) {
            start
        } else {
            let conv = Layer::conv2d(channels, 1, self.stride);
            network.feed(&[start], format!("{}.downsample.0", self.name), conv)
        };
        network.add(branch, shortcut, format!("{}.add", self.name));
    }

    fn add_basic(&self, network: &mut Network) {
        let start = network.end();
        self.step(network, 1, Layer::conv2d(self.channels, 3, self.stride));
        self.step(network, 2, Layer::conv2d(self.channels, 3, 1));
        self.close(network, start, self.channels);
    }

    fn add_bottleneck(&self, network: &mut Network) {
        let start = network.end();
        self.step(network, 1, Layer::conv2d(self.channels, 1, 1));
        self.step(network, 2, Layer::conv2d(self.channels, 3, self.stride));
        self.step(network, 3, Layer::conv2d(4 * self.channels, 1, 1));
        self.close(network, start, 4 * self.channels);
    }
}
