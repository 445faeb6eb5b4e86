//! `resnetN-cifar`: the residual networks of He et al. for CIFAR.

use super::{Built, Card, at_least, number_in};
use crate::layer::Layer;
use crate::layer::Layer::{BatchNorm, Flatten, GlobalAveragePool, Linear, PaddedShortcut, Relu};
use crate::network::Network;
use crate::shape::Shape;

/// `N = 6 n + 2`: 20, 32, 44, 56, 110.
pub const CARD: Card = Card {
    name: "resnetN-cifar",
    summary: "Residual network for CIFAR with shortcuts padded by zeros; N is 20, 32, 44, 56 or 110.",
    citation: "He et al. 2016, Deep residual learning, sec. 4.2, option A",
};

pub(super) fn build(name: &str, thin: usize, input: Shape, outputs: usize) -> Built {
    let depth = number_in(name, "resnet", "-cifar")?;
    if ![20, 32, 44, 56, 110].contains(&depth) {
        return Some(Err(format!("{name}: the depth must be 20, 32, 44, 56 or 110")));
    }
    if let Err(why) = at_least(input, 4, name) {
        return Some(Err(why));
    }
    let width = (16 / thin).max(2);
    let mut network = Network::new(input);
    network.then("conv1", Layer::conv2d(width, 3, 1));
    network.then("bn1", BatchNorm);
    network.then("relu", Relu);
    for stage in 0..3 {
        for block in 0..(depth - 2) / 6 {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            add_block(&mut network, &format!("layer{}.{block}", stage + 1), width << stage, stride);
        }
    }
    network.then("pool", GlobalAveragePool);
    network.then("flatten", Flatten);
    network.then("linear", Linear { outputs });
    Some(Ok(network))
}

fn add_block(network: &mut Network, name: &str, channels: usize, stride: usize) {
    let start = network.end();
    network.then(format!("{name}.conv1"), Layer::conv2d(channels, 3, stride));
    network.then(format!("{name}.bn1"), BatchNorm);
    network.then(format!("{name}.relu1"), Relu);
    network.then(format!("{name}.conv2"), Layer::conv2d(channels, 3, 1));
    let branch = network.then(format!("{name}.bn2"), BatchNorm);
    let shortcut = if stride == 1 {
        start
    } else {
        network.feed(&[start], format!("{name}.shortcut"), PaddedShortcut { channels })
    };
    network.add(branch, shortcut, format!("{name}.add"));
    network.then(format!("{name}.relu2"), Relu);
}
