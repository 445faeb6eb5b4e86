//! `Layer::RandomFeatures`: a product of matrices, then waves. Behind the fixed numbers, `W` and `b`, it keeps the slopes.

use super::{Arg, Pass, Place};
use crate::cuda::device::Factor::{Plain, Transposed};
use crate::random_features::Numbers;

/// Numbers that it keeps.
pub(super) fn saved(inputs: usize, features: usize, capacity: usize) -> usize {
    features * (inputs + 1 + capacity)
}

/// The numbers that never change.
pub(super) fn fixed(numbers: Numbers) -> Vec<f32> {
    numbers.directions.into_iter().chain(numbers.phases).map(|x| x as f32).collect()
}

/// `W`, `b` and the slopes.
fn places(pass: &Pass<'_>, features: usize) -> [Place; 3] {
    let directions = pass.saved;
    let phases = directions.plus(features * pass.shape().size());
    [directions, phases, phases.plus(features)]
}

pub(super) fn forward(pass: &Pass<'_>, features: usize) {
    let (batch, inputs) = (pass.batch, pass.shape().size());
    let [directions, phases, slopes] = places(pass, features);
    let x = Plain(pass.inputs[0]);
    pass.device.product([batch, features, inputs], x, Transposed(directions), pass.output);
    let scale = Arg::from((2.0 / features as f64).sqrt() as f32);
    let arguments =
        [pass.output.into(), phases.into(), slopes.into(), scale, (features as i32).into()];
    pass.device.each("waves", batch * features, &arguments);
}

pub(super) fn backward(pass: &Pass<'_>, features: usize, g: Place, to: Option<Place>) {
    let Some(to) = to else { return };
    let (batch, inputs) = (pass.batch, pass.shape().size());
    let [directions, _, slopes] = places(pass, features);
    let turned = pass.scratch;
    pass.device.each("multiply", batch * features, &[g.into(), slopes.into(), turned.into()]);
    pass.device.product([batch, inputs, features], Plain(turned), Plain(directions), to);
}
