//! `Layer::Linear`: products of matrices.

use super::{Biases, Pass, Place, activation, sums};
use crate::cuda::device::Factor::{Plain, Transposed};

/// Works out the product; gives where the biases are.
fn product(pass: &Pass<'_>, outputs: usize) -> Place {
    let (batch, inputs) = (pass.batch, pass.shape().size());
    let (x, weights) = (Plain(pass.inputs[0]), Transposed(pass.theta));
    pass.device.product([batch, outputs, inputs], x, weights, 0.0, pass.output);
    pass.theta.plus(outputs * inputs)
}

pub(super) fn forward(pass: &Pass<'_>, outputs: usize) {
    let bias = product(pass, outputs);
    let arguments = [pass.output.into(), bias.into(), (outputs as i32).into()];
    pass.device.each("add_bias", pass.size_out(), &arguments);
}

/// The same, and the activation that reads it.
pub(super) fn forward_activated(pass: &Pass<'_>, next: &Pass<'_>) {
    let outputs = pass.node.output.size();
    let bias = product(pass, outputs).into();
    let [x, y, width] = [pass.output.into(), next.output.into(), (outputs as i32).into()];
    let arguments = [activation::kind(next), x, bias, y, width];
    pass.device.each("add_bias_activate", pass.size_out(), &arguments);
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
    let x = Plain(pass.inputs[0]);
    device.product([outputs, inputs, batch], Transposed(g), x, 0.0, gradient);
    if biases == Biases::Wanted {
        let biases = gradient.plus(outputs * inputs);
        sums::of_rows(device, g, pass.scratch, biases, (batch, outputs));
    }
    if let Some(to) = to {
        device.product([batch, inputs, outputs], Plain(g), Plain(pass.theta), 0.0, to);
    }
}
