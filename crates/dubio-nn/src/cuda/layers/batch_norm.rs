//! `Layer::BatchNorm`: channels shifted and scaled to mean 0 and variance 1 over a batch.

use super::{Arg, Pass, Place, To, activation, sums};
use crate::mode::Statistics;
use crate::network::Node;

fn rows(pass: &Pass<'_>) -> (usize, usize) {
    (pass.batch * pass.shape().places(), pass.shape().channels)
}

/// Which activation follows, if one is worked out with it.
fn kind(next: Option<&Pass<'_>>) -> Arg {
    next.map_or(activation::NOTHING.into(), activation::kind)
}

/// Threads of a block whose rows are worked on by eights, and blocks that a large GPU works on at once.
const THREADS: usize = 256;
const AT_ONCE: usize = 8 * 132;

/// Whether the channels of a row are eights, one for each of some threads of a block, so that it can be halved.
pub(in crate::cuda) fn can_be_halved(node: &Node) -> bool {
    let channels = node.inputs[0].channels;
    channels.is_multiple_of(8) && channels / 8 <= THREADS
}

/// Runs a kernel number by number, four at a time where channels are a multiple of four; or another, eight at a time, where
/// what a place holds is halved.
fn each(pass: &Pass<'_>, [one, eights]: [&'static str; 2], arguments: &[Arg], halved: [bool; 3]) {
    let (rows, channels) = rows(pass);
    if halved.contains(&true) {
        let in_a_row = channels / 8;
        let at_once = THREADS / in_a_row;
        let bit = |(bit, halved): (usize, &bool)| i32::from(*halved) << bit;
        let halved: i32 = halved.iter().enumerate().map(bit).sum();
        let counts = [halved, channels as i32, rows as i32].map(Arg::from);
        let blocks = (rows.div_ceil(at_once).min(AT_ONCE), 1);
        let threads = ((at_once * in_a_row) as u32, 1);
        return pass.device.launch(eights, blocks, threads, &[arguments, &counts].concat());
    }
    let width = if channels.is_multiple_of(4) { 4 } else { 1 };
    let sides = [channels, width].map(|side| Arg::from(side as i32));
    pass.device.each(one, pass.size_in() / width, &[arguments, &sides].concat());
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
            let halved = [pass.halved.input, false];
            let (of, sides) = (sums::Of { halved, ..sums::Of::plain(x) }, (rows, channels));
            let chunks = sums::parts(device, sums::What::Spread, of, pass.scratch, sides);
            let own = [x.into(), i32::from(pass.halved.input).into()];
            let places: [Arg; 3] = [pass.scratch, pass.saved, statistics].map(Into::into);
            let counts: [Arg; 3] = [rows, chunks, channels].map(|count| (count as i32).into());
            let arguments = [&own[..], &places, &counts, &[(momentum as f32).into()]].concat();
            device.launch("batch_statistics", (channels.div_ceil(32), 1), (32, 8), &arguments);
        }
    }
    let last = next.unwrap_or(pass);
    let [x, saved, weight, y] = [x, pass.saved, pass.theta, last.output].map(Into::into);
    let halved = [pass.halved.input, false, last.halved.output];
    let kernels = ["batch_norm", "batch_norm_by_eights"];
    each(pass, kernels, &[kind(next), x, saved, weight, y], halved);
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
    let halved = [pass.halved.input, next.unwrap_or(pass).halved.output_gradient];
    let (saved, weight, activation) = (pass.saved, pass.theta, kind(next));
    let of = sums::Of { x, g, saved, weight, activation, halved };
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
        let [x, g, saved, weight] = [x, g, saved, weight].map(Arg::from);
        let to = [to.place.into(), i32::from(to.adds).into()];
        let arguments = [&[activation, x, g, saved, weight, kept][..], &to].concat();
        let halved = [halved[0], halved[1], pass.halved.input_gradient];
        each(pass, ["batch_norm_back", "batch_norm_back_by_eights"], &arguments, halved);
    }
}
