//! `lenet5`: two convolutions and three fully connected layers.

use super::{Built, Card, at_least};
use crate::layers::conv2d::{Bias, Conv2d};
use crate::layers::flatten::Flatten;
use crate::layers::linear::Linear;
use crate::layers::max_pool::MaxPool;
use crate::layers::relu::Relu;
use crate::real::Real;
use crate::shape::Shape;
use crate::tape::Tape;

/// With ReLU and max pooling, as it is used today.
pub const CARD: Card = Card {
    name: "lenet5",
    summary: "Two 5x5 convolutions with pooling, then 120, 84 and the outputs.",
    citation: "LeCun et al. 1998, with ReLU and max pooling",
};

pub(super) fn build<T: Real>(name: &str, thin: usize, input: Shape, outputs: usize) -> Built<T> {
    if name != "lenet5" {
        return None;
    }
    if let Err(why) = at_least(input, 12, name) {
        return Some(Err(why));
    }
    // The published network takes 32x32; 28x28 pictures are padded to it.
    let padding = if input.height < 32 { 2 } else { 0 };
    let conv = |channels: usize, padding| Conv2d {
        channels: (channels / thin).max(1),
        kernel: 5,
        stride: 1,
        padding,
        bias: Bias::Yes,
    };
    let pool = || MaxPool { size: 2, stride: 2, padding: 0 };
    let mut tape = Tape::new(input);
    tape.then("conv1", conv(6, padding));
    tape.then("relu1", Relu);
    tape.then("pool1", pool());
    tape.then("conv2", conv(16, 0));
    tape.then("relu2", Relu);
    tape.then("pool2", pool());
    tape.then("flatten", Flatten);
    tape.then("fc1", Linear { outputs: (120 / thin).max(1) });
    tape.then("relu3", Relu);
    tape.then("fc2", Linear { outputs: (84 / thin).max(1) });
    tape.then("relu4", Relu);
    tape.then("fc3", Linear { outputs });
    Some(Ok(tape))
}
