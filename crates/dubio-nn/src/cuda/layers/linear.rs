//! `Layer::Linear`: products of matrices.

use super::{Biases, Pass, Place, activation, sums};
use crate::cuda::device::Factor::{Plain, Transposed};
use crate::cuda::device::{Arg, Then};

fn activated(pass: &Pass<'_>, outputs: usize, activation: Option<(Arg, Place)>) {
    let (batch, inputs) = (pass.batch, pass.shape().size());
    let (x, weights) = (Plain(pass.inputs[0]), Transposed(pass.theta));
    let then = Then { biases: pass.theta.plus(outputs * inputs), activation };
    pass.device.product_then([batch, outputs, inputs], x, weights, pass.output, then);
}

pub(super) fn forward(pass: &Pass<'_>, outputs: usize) {
    activated(pass, outputs, None);
}

/// The same, and the activation that reads it.
pub(super) fn forward_activated(pass: &Pass<'_>, next: &Pass<'_>) {
    activated(pass, pass.node.output.size(), Some((activation::kind(next), next.output)));
}

pub(super) fn backward(
    pass: &Pass<'_>,
    outputs: usize,
    g: Place,
    to: Option<Place>,
    (gradient, biases): (Place, Biases),
) {
    let (batch, inputs) = (pass.batch, pass.shape().size());
    let device = pass.device;
    device.product([outputs, inputs, batch], Transposed(g), Plain(pass.inputs[0]), gradient);
    if biases == Biases::Wanted {
        let biases = gradient.plus(outputs * inputs);
        sums::of_rows(device, g, pass.scratch, biases, (batch, outputs));
    }
    if let Some(to) = to {
        device.product([batch, inputs, outputs], Plain(g), Plain(pass.theta), to);
    }
}
