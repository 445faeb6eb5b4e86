//! `resnet18`, `resnet34`, `resnet50`: the residual networks for ImageNet.

use super::{Built, Card, at_least, number_in};
use crate::layer::Layer::{BatchNorm, Conv2d, Flatten, GlobalAveragePool, Linear, MaxPool, Relu};
use crate::layer::{Bias, Layer};
use crate::network::Network;
use crate::shape::Shape;

/// Named as torchvision names them.
pub const CARD: Card = Card {
    name: "resnetN",
    summary: "Residual network for ImageNet; N is 18, 34 or 50 (bottlenecks).",
    citation: "He et al. 2016, Deep residual learning; stride in the 3x3 of a bottleneck, as torchvision",
};

pub(super) fn build(name: &str, thin: usize, input: Shape, outputs: usize) -> Built {
    let depth = number_in(name, "resnet", "")?;
    let blocks = match depth {
        18 => [2, 2, 2, 2],
        34 | 50 => [3, 4, 6, 3],
        _ => return Some(Err(format!("{name}: the depth must be 18, 34 or 50"))),
    };
    if let Err(why) = at_least(input, 32, name) {
        return Some(Err(why));
    }
    let width = (64 / thin).max(2);
    let expansion = if depth == 50 { 4 } else { 1 };
    let mut network = Network::new(input);
    let stem = Conv2d { channels: width, kernel: 7, stride: 2, padding: 3, bias: Bias::No };
    network.then("conv1", stem);
    network.then("bn1", BatchNorm);
    network.then("relu", Relu);
    network.then("maxpool", MaxPool { size: 3, stride: 2, padding: 1 });
    for (stage, count) in blocks.into_iter().enumerate() {
        for block in 0..count {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let name = format!("layer{}.{block}", stage + 1);
            add_block(&mut network, &name, width << stage, stride, expansion);
        }
    }
    network.then("avgpool", GlobalAveragePool);
    network.then("flatten", Flatten);
    network.then("fc", Linear { outputs });
    Some(Ok(network))
}

fn add_block(network: &mut Network, name: &str, channels: usize, stride: usize, expansion: usize) {
    let start = network.end();
    let out = channels * expansion;
    let convs = if expansion == 1 {
        vec![Layer::conv2d(channels, 3, stride), Layer::conv2d(channels, 3, 1)]
    } else {
        vec![
            Layer::conv2d(channels, 1, 1),
            Layer::conv2d(channels, 3, stride),
            Layer::conv2d(out, 1, 1),
        ]
    };
    let last = convs.len();
    for (index, conv) in (1..).zip(convs) {
        network.then(format!("{name}.conv{index}"), conv);
        network.then(format!("{name}.bn{index}"), BatchNorm);
        if index < last {
            network.then(format!("{name}.relu{index}"), Relu);
        }
    }
    let branch = network.end();
    let shortcut = if network.shape(start) == network.shape(branch) {
        start
    } else {
        network.feed(&[start], format!("{name}.downsample.0"), Layer::conv2d(out, 1, stride));
        network.then(format!("{name}.downsample.1"), BatchNorm)
    };
    network.add(branch, shortcut, format!("{name}.add"));
    network.then(format!("{name}.relu"), Relu);
}
