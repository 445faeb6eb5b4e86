//! `Layer::FilterResponseNorm`: channels scaled by their own mean square, example by example.

use super::{Arg, Pass, Place};

const THREADS: (u32, u32) = (512, 1);

/// Channels of a block.
fn lanes(channels: usize) -> usize {
    channels.next_power_of_two().min(32)
}

fn blocks(pass: &Pass<'_>, channels: usize) -> (usize, usize) {
    (pass.batch, channels.div_ceil(lanes(channels)))
}

pub(super) fn forward(pass: &Pass<'_>) {
    let (places, channels) = (pass.shape().places(), pass.shape().channels);
    let [x, weight, y, saved] =
        [pass.inputs[0], pass.theta, pass.output, pass.saved].map(Arg::from);
    let [places, width, across] = [places, channels, lanes(channels)].map(|n| Arg::from(n as i32));
    let arguments = [x, weight, y, saved, places, width, across];
    pass.device.launch("response_norm", blocks(pass, channels), THREADS, &arguments);
}

pub(super) fn backward(pass: &Pass<'_>, g: Place, to: Option<Place>, gradient: Place) {
    let (places, channels) = (pass.shape().places(), pass.shape().channels);
    let to = to.unwrap_or(Place::NOWHERE);
    let [x, g, weight, saved, to, parts] =
        [pass.inputs[0], g, pass.theta, pass.saved, to, pass.scratch].map(Arg::from);
    let (width, blocks) = (Arg::from(channels as i32), channels.div_ceil(32));
    let [places, across] = [places, lanes(channels)].map(|n| Arg::from(n as i32));
    let arguments = [x, g, weight, saved, to, parts, places, width, across];
    pass.device.launch("response_norm_back", self::blocks(pass, channels), THREADS, &arguments);
    // The parts of the examples lie as those of chunks of rows do: biases first, then weights.
    let batch = Arg::from(pass.batch as i32);
    let bias = gradient.plus(channels);
    let weight_parts = pass.scratch.plus(channels);
    for (parts, sums) in [(pass.scratch, bias), (weight_parts, gradient)] {
        let arguments = [parts.into(), sums.into(), batch, width];
        pass.device.launch("column_sums", (blocks, 1), (32, 8), &arguments);
    }
}
