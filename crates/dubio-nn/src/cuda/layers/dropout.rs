//! `Layer::Dropout` and `Layer::GaussianDropout`: the very masks that the CPU's engine draws.

use super::{Arg, Pass, Place};
use crate::layer::Layer;
use crate::mode::Masks;

pub(super) fn forward(pass: &Pass<'_>) {
    let (device, count, size) = (pass.device, pass.size_in(), pass.shape().size() as i32);
    let [x, y, mask] = [pass.inputs[0], pass.output, pass.saved].map(Arg::from);
    let one = Arg::from(1_f32);
    let Some(key) = pass.noise else {
        device.each("fill", count, &[mask, one]);
        return device.copy(pass.inputs[0], pass.output, count);
    };
    let key = Arg::from(key);
    let of_examples = Arg::from(i32::from(pass.mode.masks == Masks::OfExamples));
    match pass.node.layer {
        Layer::Dropout { rate } => {
            let threshold = Arg::from((rate * 2_f64.powi(32)) as u64);
            let kept = Arg::from((1.0 / (1.0 - rate)) as f32);
            let arguments = [x, y, mask, key, of_examples, threshold, kept, size.into()];
            device.each("dropout", count, &arguments);
        }
        Layer::GaussianDropout { rate } => {
            device.each("fill", count, &[mask, one]);
            let std = Arg::from((rate / (1.0 - rate)).sqrt() as f32);
            let arguments = [mask, key, of_examples, std, size.into(), (pass.batch as i32).into()];
            device.launch("normal_mask", (pass.batch.div_ceil(4), 1), (64, 1), &arguments);
            device.each("multiply", count, &[x, mask, y]);
        }
        _ => unreachable!("layers with noise"),
    }
}

pub(super) fn backward(pass: &Pass<'_>, g: Place, to: Option<Place>) {
    let Some(to) = to else { return };
    pass.device.each("multiply", pass.size_in(), &[g.into(), pass.saved.into(), to.into()]);
}
