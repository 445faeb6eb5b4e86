//! `Layer::DrawNormal`: the very numbers that the CPU's engine draws.

use super::{Arg, Pass, Place};
use crate::layer::NORMAL_CHUNK;
use crate::mode::Masks;

pub(super) fn forward(pass: &Pass<'_>) {
    let (device, count, size) = (pass.device, pass.size_in(), pass.shape().size());
    device.zero(pass.saved, count);
    let Some(key) = pass.noise else {
        return device.copy(pass.inputs[0], pass.output, count);
    };
    let of_examples = Arg::from(i32::from(pass.mode.masks == Masks::OfExamples));
    let chunks = size.div_ceil(NORMAL_CHUNK);
    let all = pass.batch * chunks;
    let [size, chunk, chunks, numbers] =
        [size, NORMAL_CHUNK, chunks, all].map(|number| Arg::from(number as i32));
    let arguments = [pass.saved.into(), key.into(), of_examples, size, chunk, chunks, numbers];
    device.launch("normal_chunks", (all.div_ceil(4), 1), (64, 1), &arguments);
    let [mean, variance] = [pass.inputs[0], pass.inputs[1]].map(Arg::from);
    device.each("draw_normal", count, &[mean, variance, pass.saved.into(), pass.output.into()]);
}

pub(super) fn backward(pass: &Pass<'_>, g: Place, inputs: &[Option<Place>]) {
    if let Some(to) = inputs[0] {
        pass.device.copy(g, to, pass.size_in());
    }
    if let Some(to) = inputs[1] {
        pass.device.each("multiply", pass.size_in(), &[g.into(), pass.saved.into(), to.into()]);
    }
}
