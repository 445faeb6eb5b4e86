//! `Layer::RandomSigns`: the very signs that the CPU's engine draws.

use super::{Arg, Pass, Place};
use crate::mode::Masks;

pub(super) fn forward(pass: &Pass<'_>) {
    let (device, count, shape) = (pass.device, pass.size_in(), pass.shape());
    let [x, y, signs] = [pass.inputs[0], pass.output, pass.saved].map(Arg::from);
    let Some(key) = pass.noise else {
        device.each("fill", count, &[signs, 1_f32.into()]);
        return device.copy(pass.inputs[0], pass.output, count);
    };
    let of_examples = Arg::from(i32::from(pass.mode.masks == Masks::OfExamples));
    let [channels, size] = [shape.channels, shape.size()].map(|number| Arg::from(number as i32));
    device.each("random_signs", count, &[x, y, signs, key.into(), of_examples, channels, size]);
}

pub(super) fn backward(pass: &Pass<'_>, g: Place, to: Option<Place>) {
    let Some(to) = to else { return };
    pass.device.each("multiply", pass.size_in(), &[g.into(), pass.saved.into(), to.into()]);
}
