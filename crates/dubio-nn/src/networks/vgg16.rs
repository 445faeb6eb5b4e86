//! `vgg16`: thirteen convolutions with batch normalisation, three fully connected layers.

use super::{Built, Card, at_least};
use crate::layer::Bias;
use crate::layer::Layer::{BatchNorm, Conv2d, Flatten, Linear, MaxPool, Relu};
use crate::network::Network;
use crate::shape::Shape;

/// The version for CIFAR, with 512 hidden units.
pub const CARD: Card = Card {
    name: "vgg16",
    summary: "Thirteen 3x3 convolutions with batch normalisation, then 512, 512 and the outputs.",
    citation: "Simonyan and Zisserman 2015; for CIFAR as in Ashukha et al. 2020",
};

/// Channels of the convolutions; 0 is a pooling.
const PLAN: [usize; 18] =
    [64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0];

pub(super) fn build(name: &str, thin: usize, input: Shape, outputs: usize) -> Built {
    if name != "vgg16" {
        return None;
    }
    if let Err(why) = at_least(input, 32, name) {
        return Some(Err(why));
    }
    let mut network = Network::new(input);
    // Numbered as in PyTorch's sequence of convolution, normalisation, activation, pooling.
    let mut index = 0;
    let mut next = || {
        index += 1;
        format!("features.{}", index - 1)
    };
    for channels in PLAN {
        if channels == 0 {
            network.then(next(), MaxPool { size: 2, stride: 2, padding: 0 });
        } else {
            let channels = (channels / thin).max(1);
            let conv = Conv2d { channels, kernel: 3, stride: 1, padding: 1, bias: Bias::Yes };
            network.then(next(), conv);
            network.then(next(), BatchNorm);
            network.then(next(), Relu);
        }
    }
    network.then("flatten", Flatten);
    for (index, name) in ["classifier.1", "classifier.4"].iter().enumerate() {
        network.then(*name, Linear { outputs: (512 / thin).max(1) });
        network.then(format!("classifier.relu{}", index + 1), Relu);
    }
    network.then("classifier.6", Linear { outputs });
    Some(Ok(network))
}
