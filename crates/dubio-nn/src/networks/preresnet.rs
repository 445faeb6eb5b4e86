//! `preresnetN`: residual networks for CIFAR with normalisation before convolution.

use super::{Built, Card, at_least, number_in};
use crate::layers::average_pool::AveragePool;
use crate::layers::batch_norm::BatchNorm;
use crate::layers::conv2d::Conv2d;
use crate::layers::flatten::Flatten;
use crate::layers::linear::Linear;
use crate::layers::relu::Relu;
use crate::real::Real;
use crate::shape::Shape;
use crate::tape::Tape;

/// Two 3x3 convolutions a block up to 44 layers, bottlenecks above.
pub const CARD: Card = Card {
    name: "preresnetN",
    summary: "Pre-activation residual network for CIFAR; N is 20, 56, 110 or 164 (bottlenecks from 56 on).",
    citation: "He et al. 2016, Identity mappings; as used by Ashukha et al. 2020",
};

pub(super) fn build<T: Real>(name: &str, thin: usize, input: Shape, outputs: usize) -> Built<T> {
    let depth = number_in(name, "preresnet", "")?;
    if ![20, 56, 110, 164].contains(&depth) {
        return Some(Err(format!("{name}: the depth must be 20, 56, 110 or 164")));
    }
    if let Err(why) = at_least(input, 4, name) {
        return Some(Err(why));
    }
    let width = (16 / thin).max(2);
    let bottleneck = depth >= 44;
    let mut tape = Tape::new(input);
    tape.then("conv1", Conv2d::same(width, 3, 1));
    for stage in 0..3 {
        for block in 0..(depth - 2) / if bottleneck { 9 } else { 6 } {
            let block = Block {
                name: format!("layer{}.{block}", stage + 1),
                channels: width << stage,
                stride: if stage > 0 && block == 0 { 2 } else { 1 },
            };
            if bottleneck { block.add_bottleneck(&mut tape) } else { block.add_basic(&mut tape) }
        }
    }
    tape.then("bn", BatchNorm);
    tape.then("relu", Relu);
    tape.then("pool", AveragePool { size: 0 });
    tape.then("flatten", Flatten);
    tape.then("fc", Linear { outputs });
    Some(Ok(tape))
}

struct Block {
    name: String,
    channels: usize,
    stride: usize,
}

impl Block {
    /// Normalisation, activation, convolution: the `index`-th of the block.
    fn step<T: Real>(&self, tape: &mut Tape<T>, index: usize, conv: Conv2d) {
        tape.then(format!("{}.bn{index}", self.name), BatchNorm);
        tape.then(format!("{}.relu{index}", self.name), Relu);
        tape.then(format!("{}.conv{index}", self.name), conv);
    }

    fn close<T: Real>(&self, tape: &mut Tape<T>, start: crate::tape::From, channels: usize) {
        let branch = tape.end();
        let shortcut = if tape.shape(start) == tape.shape(branch) {
            start
        } else {
            let conv = Conv2d::same(channels, 1, self.stride);
            tape.feed(start, format!("{}.downsample.0", self.name), conv)
        };
        tape.add(branch, shortcut, format!("{}.add", self.name));
    }

    fn add_basic<T: Real>(&self, tape: &mut Tape<T>) {
        let start = tape.end();
        self.step(tape, 1, Conv2d::same(self.channels, 3, self.stride));
        self.step(tape, 2, Conv2d::same(self.channels, 3, 1));
        self.close(tape, start, self.channels);
    }

    fn add_bottleneck<T: Real>(&self, tape: &mut Tape<T>) {
        let start = tape.end();
        self.step(tape, 1, Conv2d::same(self.channels, 1, 1));
        self.step(tape, 2, Conv2d::same(self.channels, 3, self.stride));
        self.step(tape, 3, Conv2d::same(4 * self.channels, 1, 1));
        self.close(tape, start, 4 * self.channels);
    }
}
