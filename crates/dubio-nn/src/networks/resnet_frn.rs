//! `resnet20-frn`: a residual network without batch statistics, for exact samplers.

use super::{Built, Card, at_least};
use crate::layers::average_pool::AveragePool;
use crate::layers::conv2d::{Bias, Conv2d};
use crate::layers::filter_response_norm::FilterResponseNorm;
use crate::layers::flatten::Flatten;
use crate::layers::linear::Linear;
use crate::layers::swish::Swish;
use crate::real::Real;
use crate::shape::Shape;
use crate::tape::{From, Tape};

/// Every example is normalised by itself, so that the loss is a sum over examples.
pub const CARD: Card = Card {
    name: "resnet20-frn",
    summary: "ResNet-20 with filter response normalisation and Swish: no example depends on its batch.",
    citation: "Izmailov et al. 2021; Seligmann et al. 2023",
};

pub(super) fn build<T: Real>(name: &str, thin: usize, input: Shape, outputs: usize) -> Built<T> {
    if name != "resnet20-frn" {
        return None;
    }
    if let Err(why) = at_least(input, 4, name) {
        return Some(Err(why));
    }
    let width = (16 / thin).max(2);
    let mut tape = Tape::new(input);
    normed(&mut tape, From::Input, "conv1", "norm1", width, 3, 1);
    tape.then("act1", Swish);
    for stage in 0..3 {
        for block in 0..3 {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let name = format!("layer{}.{block}", stage + 1);
            let (start, channels) = (tape.end(), width << stage);
            let at = |part: &str| format!("{name}.{part}");
            normed(&mut tape, start, &at("conv1"), &at("norm1"), channels, 3, stride);
            let middle = tape.then(at("act1"), Swish);
            let branch = normed(&mut tape, middle, &at("conv2"), &at("norm2"), channels, 3, 1);
            let shortcut = if stride == 1 {
                start
            } else {
                normed(&mut tape, start, &at("shortcut.0"), &at("shortcut.1"), channels, 1, stride)
            };
            tape.add(branch, shortcut, at("add"));
            tape.then(at("act2"), Swish);
        }
    }
    tape.then("pool", AveragePool { size: 0 });
    tape.then("flatten", Flatten);
    tape.then("linear", Linear { outputs });
    Some(Ok(tape))
}

/// A convolution and its normalisation.
fn normed<T: Real>(
    tape: &mut Tape<T>,
    from: From,
    conv: &str,
    norm: &str,
    channels: usize,
    kernel: usize,
    stride: usize,
) -> From {
    let layer = Conv2d { channels, kernel, stride, padding: kernel / 2, bias: Bias::Yes };
    tape.feed(from, conv, layer);
    tape.then(norm, FilterResponseNorm)
}
