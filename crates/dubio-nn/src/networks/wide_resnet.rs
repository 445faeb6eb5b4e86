//! `wideresnet28x10`: a wide residual network for CIFAR.

use super::{Built, Card, at_least};
use crate::layers::average_pool::AveragePool;
use crate::layers::batch_norm::BatchNorm;
use crate::layers::conv2d::Conv2d;
use crate::layers::flatten::Flatten;
use crate::layers::linear::Linear;
use crate::layers::relu::Relu;
use crate::real::Real;
use crate::shape::Shape;
use crate::tape::Tape;

/// `wideresnetDxK`: depth `D = 6 n + 4`, `K` times the channels of the narrow one.
pub const CARD: Card = Card {
    name: "wideresnetDxK",
    summary: "Wide pre-activation residual network of depth D = 6 n + 4 and K times 16, 32, 64 channels.",
    citation: "Zagoruyko and Komodakis 2016",
};

/// Layers.
const DEEPEST: usize = 1000;

pub(super) fn build<T: Real>(name: &str, thin: usize, input: Shape, outputs: usize) -> Built<T> {
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
    let mut tape = Tape::new(input);
    tape.then("conv1", Conv2d::same(width, 3, 1));
    for stage in 0..3 {
        for block in 0..(depth - 4) / 6 {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let name = format!("layer{}.{block}", stage + 1);
            add_block(&mut tape, &name, (width * factor) << stage, stride);
        }
    }
    tape.then("bn1", BatchNorm);
    tape.then("relu", Relu);
    tape.then("pool", AveragePool { size: 0 });
    tape.then("flatten", Flatten);
    tape.then("linear", Linear { outputs });
    Some(Ok(tape))
}

fn add_block<T: Real>(tape: &mut Tape<T>, name: &str, channels: usize, stride: usize) {
    let start = tape.end();
    tape.then(format!("{name}.bn1"), BatchNorm);
    tape.then(format!("{name}.relu1"), Relu);
    tape.then(format!("{name}.conv1"), Conv2d::same(channels, 3, stride));
    tape.then(format!("{name}.bn2"), BatchNorm);
    tape.then(format!("{name}.relu2"), Relu);
    let branch = tape.then(format!("{name}.conv2"), Conv2d::same(channels, 3, 1));
    let shortcut = if tape.shape(start) == tape.shape(branch) {
        start
    } else {
        tape.feed(start, format!("{name}.shortcut.0"), Conv2d::same(channels, 1, stride))
    };
    tape.add(branch, shortcut, format!("{name}.add"));
}
