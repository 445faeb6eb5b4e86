//! `Layer::BatchNorm`: channels shifted and scaled to mean 0 and variance 1 over a batch.

use super::{Arg, Pass, Place, To, activation, sums};
use crate::mode::Statistics;

fn rows(pass: &Pass<'_>) -> (usize, usize) {
    (pass.batch * pass.shape().places(), pass.shape().channels)
}

/// Which activation follows, if one is worked out with it.
fn kind(next: Option<&Pass<'_>>) -> Arg {
    next.map_or(activation::NOTHING.into(), activation::kind)
}

/// Runs a kernel number by number; four at a time where channels are a multiple of four.
fn each(pass: &Pass<'_>, name: &'static str, arguments: &[Arg]) {
    let channels = pass.shape().channels;
    let width = if channels.is_multiple_of(4) { 4 } else { 1 };
    let sides = [channels, width].map(|side| Arg::from(side as i32));
    pass.device.each(name, pass.size_in() / width, &[arguments, &sides].concat());
}

/// With the activation that reads it, if there is one.
pub(super) fn forward(pass: &Pass<'_>, statistics: Place, next: Option<&Pass<'_>>) {
    let (rows, channels) = rows(pass);
    let (device, x, width) = (pass.device, pass.inputs[0], Arg::from(channels as i32));
    match pass.mode.statistics {
        Statistics::Running => {
            let arguments = [statistics.into(), pass.saved.into(), width];
            device.launch("running_statistics", (channels.div_ceil(256), 1), (256, 1), &arguments);
        }
        Statistics::Batch { momentum } => {
            let (of, sides) = (sums::Of::plain(x), (rows, channels));
            let chunks = sums::parts(device, sums::What::Spread, of, pass.scratch, sides);
            let places: [Arg; 4] = [x, pass.scratch, pass.saved, statistics].map(Into::into);
            let counts: [Arg; 3] = [rows, chunks, channels].map(|count| (count as i32).into());
            let arguments = [&places[..], &counts, &[(momentum as f32).into()]].concat();
            device.launch("batch_statistics", (channels.div_ceil(32), 1), (32, 8), &arguments);
        }
    }
    let output = next.map_or(pass.output, |next| next.output);
    let [x, saved, weight, y] = [x, pass.saved, pass.theta, output].map(Into::into);
    each(pass, "batch_norm", &[kind(next), x, saved, weight, y]);
}

/// From the gradient of its outputs, or of those of the activation that reads it.
pub(in crate::cuda) fn backward(
    pass: &Pass<'_>,
    next: Option<&Pass<'_>>,
    g: Place,
    to: Option<To>,
    gradient: Place,
) {
    let (rows, channels) = rows(pass);
    let (device, x) = (pass.device, pass.inputs[0]);
    let of = sums::Of { x, g, saved: pass.saved, weight: pass.theta, activation: kind(next) };
    let chunks = sums::parts(device, sums::What::Back, of, pass.scratch, (rows, channels));
    // With statistics of the batch, every input moves them; with running ones, none does.
    let fraction = match pass.mode.statistics {
        Statistics::Batch { .. } => 1.0 / rows as f32,
        Statistics::Running => 0.0,
    };
    let kept = pass.scratch.plus(sums::room(rows, channels));
    let [parts, gradient, kept] = [pass.scratch, gradient, kept].map(Arg::from);
    let width = Arg::from(channels as i32);
    let arguments = [parts, gradient, kept, (chunks as i32).into(), width, fraction.into()];
    device.launch("batch_norm_sums", (channels.div_ceil(32), 1), (32, 8), &arguments);
    if let Some(to) = to {
        let [x, g, saved, weight] = [x, g, pass.saved, pass.theta].map(Into::into);
        let to = [to.place.into(), i32::from(to.adds).into()];
        let arguments = [&[kind(next), x, g, saved, weight, kept][..], &to].concat();
        each(pass, "batch_norm_back", &arguments);
    }
}
