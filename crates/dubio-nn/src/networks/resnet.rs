//! `resnet18`, `resnet34`, `resnet50`: the residual networks for ImageNet.

use super::{Built, Card, at_least, number_in};
use crate::layers::average_pool::AveragePool;
use crate::layers::batch_norm::BatchNorm;
use crate::layers::conv2d::{Bias, Conv2d};
use crate::layers::flatten::Flatten;
use crate::layers::linear::Linear;
use crate::layers::max_pool::MaxPool;
use crate::layers::relu::Relu;
use crate::real::Real;
use crate::shape::Shape;
use crate::tape::Tape;

/// Named as torchvision names them.
pub const CARD: Card = Card {
    name: "resnetN",
    summary: "Residual network for ImageNet; N is 18, 34 or 50 (bottlenecks).",
    citation: "He et al. 2016, Deep residual learning; stride in the 3x3 of a bottleneck, as torchvision",
};

pub(super) fn build<T: Real>(name: &str, thin: usize, input: Shape, outputs: usize) -> Built<T> {
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
    let mut tape = Tape::new(input);
    let stem = Conv2d { channels: width, kernel: 7, stride: 2, padding: 3, bias: Bias::No };
    tape.then("conv1", stem);
    tape.then("bn1", BatchNorm);
    tape.then("relu", Relu);
    tape.then("maxpool", MaxPool { size: 3, stride: 2, padding: 1 });
    for (stage, count) in blocks.into_iter().enumerate() {
        for block in 0..count {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let name = format!("layer{}.{block}", stage + 1);
            add_block(&mut tape, &name, width << stage, stride, expansion);
        }
    }
    tape.then("avgpool", AveragePool { size: 0 });
    tape.then("flatten", Flatten);
    tape.then("fc", Linear { outputs });
    Some(Ok(tape))
}

fn add_block<T: Real>(
    tape: &mut Tape<T>,
    name: &str,
    channels: usize,
    stride: usize,
    expansion: usize,
) {
    let start = tape.end();
    let out = channels * expansion;
    let convs = if expansion == 1 {
        vec![Conv2d::same(channels, 3, stride), Conv2d::same(channels, 3, 1)]
    } else {
        vec![
            Conv2d::same(channels, 1, 1),
            Conv2d::same(channels, 3, stride),
            Conv2d::same(out, 1, 1),
        ]
    };
    let last = convs.len();
    for (index, conv) in (1..).zip(convs) {
        tape.then(format!("{name}.conv{index}"), conv);
        tape.then(format!("{name}.bn{index}"), BatchNorm);
        if index < last {
            tape.then(format!("{name}.relu{index}"), Relu);
        }
    }
    let branch = tape.end();
    let shortcut = if tape.shape(start) == tape.shape(branch) {
        start
    } else {
        tape.feed(start, format!("{name}.downsample.0"), Conv2d::same(out, 1, stride));
        tape.then(format!("{name}.downsample.1"), BatchNorm)
    };
    tape.add(branch, shortcut, format!("{name}.add"));
    tape.then(format!("{name}.relu"), Relu);
}
