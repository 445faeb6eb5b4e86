//! `resnetN-cifar`: the residual networks of He et al. for CIFAR.

use super::{Built, Card, at_least, number_in};
use crate::layers::average_pool::AveragePool;
use crate::layers::batch_norm::BatchNorm;
use crate::layers::conv2d::Conv2d;
use crate::layers::flatten::Flatten;
use crate::layers::linear::Linear;
use crate::layers::relu::Relu;
use crate::layers::residual::PaddedShortcut;
use crate::real::Real;
use crate::shape::Shape;
use crate::tape::Tape;

/// `N = 6 n + 2`: 20, 32, 44, 56, 110.
pub const CARD: Card = Card {
    name: "resnetN-cifar",
    summary: "Residual network for CIFAR with shortcuts padded by zeros; N is 20, 32, 44, 56 or 110.",
    citation: "He et al. 2016, Deep residual learning, sec. 4.2, option A",
};

pub(super) fn build<T: Real>(name: &str, thin: usize, input: Shape, outputs: usize) -> Built<T> {
    let depth = number_in(name, "resnet", "-cifar")?;
    if ![20, 32, 44, 56, 110].contains(&depth) {
        return Some(Err(format!("{name}: the depth must be 20, 32, 44, 56 or 110")));
    }
    if let Err(why) = at_least(input, 4, name) {
        return Some(Err(why));
    }
    let width = (16 / thin).max(2);
    let mut tape = Tape::new(input);
    tape.then("conv1", Conv2d::same(width, 3, 1));
    tape.then("bn1", BatchNorm);
    tape.then("relu", Relu);
    for stage in 0..3 {
        for block in 0..(depth - 2) / 6 {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            add_block(&mut tape, &format!("layer{}.{block}", stage + 1), width << stage, stride);
        }
    }
    tape.then("pool", AveragePool { size: 0 });
    tape.then("flatten", Flatten);
    tape.then("linear", Linear { outputs });
    Some(Ok(tape))
}

fn add_block<T: Real>(tape: &mut Tape<T>, name: &str, channels: usize, stride: usize) {
    let start = tape.end();
    tape.then(format!("{name}.conv1"), Conv2d::same(channels, 3, stride));
    tape.then(format!("{name}.bn1"), BatchNorm);
    tape.then(format!("{name}.relu1"), Relu);
    tape.then(format!("{name}.conv2"), Conv2d::same(channels, 3, 1));
    let branch = tape.then(format!("{name}.bn2"), BatchNorm);
    let shortcut = if stride == 1 {
        start
    } else {
        tape.feed(start, format!("{name}.shortcut"), PaddedShortcut { channels })
    };
    tape.add(branch, shortcut, format!("{name}.add"));
    tape.then(format!("{name}.relu2"), Relu);
}
