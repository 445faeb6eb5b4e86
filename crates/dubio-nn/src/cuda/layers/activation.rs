//! `Layer::Relu`, `Layer::Elu`, `Layer::Swish` and `Layer::Square`, number by number.

use super::{Arg, Pass, Place};
use crate::layer::Layer;

pub(super) fn kind(pass: &Pass<'_>) -> Arg {
    match pass.node.layer {
        Layer::Relu => 0_i32.into(),
        Layer::Elu => 1_i32.into(),
        Layer::Swish => 2_i32.into(),
        _ => 3_i32.into(),
    }
}

pub(super) fn forward(pass: &Pass<'_>) {
    let arguments = [kind(pass), pass.inputs[0].into(), pass.output.into()];
    pass.device.each("activate", pass.size_in(), &arguments);
}

pub(super) fn backward(pass: &Pass<'_>, g: Place, to: Option<Place>) {
    let Some(to) = to else { return };
    let [x, y, g, to] = [pass.inputs[0], pass.output, g, to].map(Into::into);
    pass.device.each("activate_back", pass.size_in(), &[kind(pass), x, y, g, to]);
}
