//! `resnet20-frn`: a residual network without batch statistics, for exact samplers.

use super::{Built, Card, at_least};
use crate::layer::Bias;
use crate::layer::Layer::{Conv2d, FilterResponseNorm, Flatten, GlobalAveragePool, Linear, Swish};
use crate::network::{Network, Source};
use crate::shape::Shape;

/// Every example is normalised by itself, so that the loss is a sum over examples.
pub const CARD: Card = Card {
    name: "resnet20-frn",
    summary: "ResNet-20 with filter response normalisation and Swish: predictions do not depend on the batch.",
    citation: "Izmailov et al. 2021; Seligmann et al. 2023",
};

pub(super) fn build(name: &str, thin: usize, input: Shape, outputs: usize) -> Built {
    if name != "resnet20-frn" {
        return None;
    }
    if let Err(why) = at_least(input, 4, name) {
        return Some(Err(why));
    }
    let width = (16 / thin).max(2);
    let mut network = Network::new(input);
    normed(&mut network, Source::Input, "conv1", "norm1", width, 3, 1);
    network.then("act1", Swish);
    for stage in 0..3 {
        for block in 0..3 {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let name = format!("layer{}.{block}", stage + 1);
            let (start, channels) = (network.end(), width << stage);
            let at = |part: &str| format!("{name}.{part}");
            normed(&mut network, start, &at("conv1"), &at("norm1"), channels, 3, stride);
            let middle = network.then(at("act1"), Swish);
            let branch = normed(&mut network, middle, &at("conv2"), &at("norm2"), channels, 3, 1);
            let shortcut = if stride == 1 {
                start
            } else {
                normed(
                    &mut network,
                    start,
                    &at("shortcut.0"),
                    &at("shortcut.1"),
                    channels,
                    1,
                    stride,
                )
            };
            network.add(branch, shortcut, at("add"));
            network.then(at("act2"), Swish);
        }
    }
    network.then("pool", GlobalAveragePool);
    network.then("flatten", Flatten);
    network.then("linear", Linear { outputs });
    Some(Ok(network))
}

/// A convolution and its normalisation.
fn normed(
    network: &mut Network,
    from: Source,
    conv: &str,
    norm: &str,
    channels: usize,
    kernel: usize,
    stride: usize,
) -> Source {
    let layer = Conv2d { channels, kernel, stride, padding: kernel / 2, bias: Bias::Yes };
    network.feed(&[from], conv, layer);
    network.then(norm, FilterResponseNorm)
}
