//! `Layer::MaxPool`, `Layer::AveragePool` and `Layer::GlobalAveragePool`.

use super::{Arg, Pass, Place};
use crate::layer::Layer;

/// The windows, and whether the largest number is taken of each.
fn windows(pass: &Pass<'_>) -> (Vec<Arg>, bool) {
    let (sides, largest) = match pass.node.layer {
        Layer::MaxPool { size, stride, padding } => (vec![size, stride, padding], true),
        Layer::AveragePool { size } => (vec![size, size], false),
        _ => (vec![pass.shape().height, pass.shape().width], false),
    };
    (sides.into_iter().map(|side| Arg::from(side as i32)).collect(), largest)
}

pub(super) fn forward(pass: &Pass<'_>) {
    let (windows, largest) = windows(pass);
    let mut arguments: Vec<Arg> = vec![pass.inputs[0].into(), pass.output.into()];
    if largest {
        arguments.push(pass.saved.into());
    }
    arguments.extend(pass.sides());
    arguments.extend(windows);
    let name = if largest { "max_pool" } else { "average_pool" };
    pass.device.each(name, pass.size_out(), &arguments);
}

pub(super) fn backward(pass: &Pass<'_>, g: Place, to: Option<Place>) {
    let Some(to) = to else { return };
    let (windows, largest) = windows(pass);
    let mut arguments: Vec<Arg> = vec![g.into()];
    if largest {
        arguments.push(pass.saved.into());
    }
    arguments.push(to.into());
    arguments.extend(pass.sides());
    arguments.extend(windows);
    let name = if largest { "max_pool_back" } else { "average_pool_back" };
    pass.device.each(name, pass.size_in(), &arguments);
}
