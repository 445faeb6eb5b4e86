//! `Layer::Append`: learnt numbers behind the inputs.

use super::joints::copy_columns;
use super::{Pass, Place, sums};

/// Numbers of room to work in: the gradients of the learnt numbers, row by row, and the parts of their sums.
pub(super) fn room(capacity: usize, numbers: usize) -> usize {
    capacity * numbers + sums::room(capacity, numbers)
}

pub(super) fn forward(pass: &Pass<'_>, numbers: usize) {
    let inputs = pass.shape().size();
    let out = |at: usize| (pass.output, inputs + numbers, at);
    copy_columns(pass, pass.batch, (pass.inputs[0], inputs, 0), out(0), inputs);
    // Rows of width 0 are all the same one.
    copy_columns(pass, pass.batch, (pass.theta, 0, 0), out(inputs), numbers);
}

pub(super) fn backward(
    pass: &Pass<'_>,
    numbers: usize,
    g: Place,
    to: Option<Place>,
    gradient: Place,
) {
    let (batch, inputs) = (pass.batch, pass.shape().size());
    if let Some(to) = to {
        copy_columns(pass, batch, (g, inputs + numbers, 0), (to, inputs, 0), inputs);
    }
    let own = pass.scratch;
    copy_columns(pass, batch, (g, inputs + numbers, inputs), (own, numbers, 0), numbers);
    sums::of_rows(pass.device, own, own.plus(batch * numbers), gradient, (batch, numbers));
}
