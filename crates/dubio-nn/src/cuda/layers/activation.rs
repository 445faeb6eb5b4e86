//! `Layer::Relu`, `Layer::Elu`, `Layer::Swish` and `Layer::Square`, number by number.

use super::{Arg, Pass, Place};
use crate::layer::Layer;

/// No activation, where a kernel takes one.
pub(super) const NOTHING: i32 = -1;

/// Which one a kernel is asked for.
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
    let [x, g, to] = [pass.inputs[0], g, to].map(Into::into);
    pass.device.each("activate_back", pass.size_in(), &[kind(pass), x, g, to]);
}

/// Rows that [`backward_with_sums`] adds up at once.
pub(in crate::cuda) const MOST_ROWS: usize = 256;

/// The gradient of a linear layer's outputs, through the activation that reads them, and its sums over the examples, which
/// are the gradient of the biases. Of at most [`MOST_ROWS`] examples.
pub(in crate::cuda) fn backward_with_sums(pass: &Pass<'_>, g: Place, to: Place, sums: Place) {
    let channels = pass.shape().size();
    let [x, g, to, sums] = [pass.inputs[0], g, to, sums].map(Arg::from);
    let [rows, width] = [pass.batch, channels].map(|side| Arg::from(side as i32));
    let arguments = [kind(pass), x, g, to, sums, rows, width];
    pass.device.launch("activate_back_sums", (channels.div_ceil(32), 1), (32, 32), &arguments);
}
