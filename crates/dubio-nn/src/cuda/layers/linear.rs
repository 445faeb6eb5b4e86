//! `Layer::Linear`: products of matrices.

use super::{Pass, Place, sums};
use crate::cuda::device::Factor::{Plain, Transposed};

pub(super) fn forward(pass: &Pass<'_>, outputs: usize) {
    let (batch, inputs) = (pass.batch, pass.shape().size());
    let (x, weights) = (Plain(pass.inputs[0]), Transposed(pass.theta));
    pass.device.product([batch, outputs, inputs], x, weights, 0.0, pass.output);
    let bias = pass.theta.plus(outputs * inputs);
    let arguments = [pass.output.into(), bias.into(), (outputs as i32).into()];
    pass.device.each("add_bias", batch * outputs, &arguments);
}

pub(super) fn backward(
    pass: &Pass<'_>,
    outputs: usize,
    g: Place,
    to: Option<Place>,
    gradient: Place,
) {
    let (batch, inputs) = (pass.batch, pass.shape().size());
    let device = pass.device;
    let x = Plain(pass.inputs[0]);
    device.product([outputs, inputs, batch], Transposed(g), x, 1.0, gradient);
    let biases = gradient.plus(outputs * inputs);
    sums::add(device, g, pass.scratch, biases, (batch, outputs));
    if let Some(to) = to {
        device.product([batch, inputs, outputs], Plain(g), Plain(pass.theta), 0.0, to);
    }
}
