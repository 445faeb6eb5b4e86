//! `wideresnet28x10`: a wide residual network for CIFAR.

use super::{Built, Card, at_least};
use crate::layer::Layer;
use crate::layer::Layer::{BatchNorm, Flatten, GlobalAveragePool, Linear, Relu};
use crate::network::Network;
use crate::shape::Shape;

/// `wideresnetDxK`: depth `D = 6 n + 4`, `K` times the channels of the narrow one.
pub const CARD: Card = Card {
    name: "wideresnetDxK",
    summary: "Wide pre-activation residual network of depth D = 6 n + 4 and K times 16, 32, 64 channels.",
    citation: "Zagoruyko and Komodakis 2016",
};

/// The most layers.
const DEEPEST: usize = 1000;

pub(super) fn build(name: &str, thin: usize, input: Shape, outputs: usize) -> Built {
    let (depth, factor) = name.strip_prefix("wideresnet")?.split_once('x')?;
    let (depth, factor): (usize, usize) = (depth.parse().ok()?, factor.parse().ok()?);
    let known = (10..=DEEPEST).contains(&depth) && (depth - 4).is_multiple_of(6);
    if !known || !(1..=64).contains(&factor) {
        let what = format!("the depth must be 10, 16, 22, ..., {DEEPEST}, and the factor 1 to 64");
        return Some(Err(format!("{name}: {what}")));
    }
    if let Err(why) = at_least(input, 4, name) {
        return Some(Err(why));
    }
    let width = (16 / thin).max(2);
    let mut network = Network::new(input);
    network.then("conv1", Layer::conv2d(width, 3, 1));
    for stage in 0..3 {
        for block in 0..(depth - 4) / 6 {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let name = format!("layer{}.{block}", stage + 1);
            add_block(&mut network, &name, (width * factor) << stage, stride);
        }
    }
    network.then("bn1", BatchNorm);
    network.then("relu", Relu);
    network.then("pool", GlobalAveragePool);
    network.then("flatten", Flatten);
    network.then("linear", Linear { outputs });
    Some(Ok(network))
}

fn add_block(network: &mut Network, name: &str, channels: usize, stride: usize) {
    let start = network.end();
    network.then(format!("{name}.bn1"), BatchNorm);
    network.then(format!("{name}.relu1"), Relu);
    network.then(format!("{name}.conv1"), Layer::conv2d(channels, 3, stride));
    network.then(format!("{name}.bn2"), BatchNorm);
    network.then(format!("{name}.relu2"), Relu);
    let branch = network.then(format!("{name}.conv2"), Layer::conv2d(channels, 3, 1));
    let shortcut = if network.shape(start) == network.shape(branch) {
        start
    } else {
        network.feed(&[start], format!("{name}.shortcut.0"), Layer::conv2d(channels, 1, stride))
    };
    network.add(branch, shortcut, format!("{name}.add"));
}
