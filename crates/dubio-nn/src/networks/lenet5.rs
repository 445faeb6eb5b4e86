//! `lenet5`: two convolutions and three fully connected layers.

use super::{Built, Card, at_least};
use crate::layer::Bias;
use crate::layer::Layer::{Conv2d, Flatten, Linear, MaxPool, Relu};
use crate::network::Network;
use crate::shape::Shape;

/// With ReLU and max pooling, as it is used today.
pub const CARD: Card = Card {
    name: "lenet5",
    summary: "Two 5x5 convolutions with pooling, then 120, 84 and the outputs.",
    citation: "LeCun et al. 1998, with ReLU and max pooling",
};

pub(super) fn build(name: &str, thin: usize, input: Shape, outputs: usize) -> Built {
    if name != "lenet5" {
        return None;
    }
    if let Err(why) = at_least(input, 12, name) {
        return Some(Err(why));
    }
    // The published network takes 32x32; 28x28 images are padded to it.
    let padding = if input.height < 32 { 2 } else { 0 };
    let conv = |channels: usize, padding| Conv2d {
        channels: (channels / thin).max(1),
        kernel: 5,
        stride: 1,
        padding,
        bias: Bias::Yes,
    };
    let pool = || MaxPool { size: 2, stride: 2, padding: 0 };
    let mut network = Network::new(input);
    network.then("conv1", conv(6, padding));
    network.then("relu1", Relu);
    network.then("pool1", pool());
    network.then("conv2", conv(16, 0));
    network.then("relu2", Relu);
    network.then("pool2", pool());
    network.then("flatten", Flatten);
    network.then("fc1", Linear { outputs: (120 / thin).max(1) });
    network.then("relu3", Relu);
    network.then("fc2", Linear { outputs: (84 / thin).max(1) });
    network.then("relu4", Relu);
    network.then("fc3", Linear { outputs });
    Some(Ok(network))
}
