//! Layers that put numbers elsewhere or together: `Flatten`, `Add`, `Concat`, `Take`, `PaddedShortcut`.

use super::{Arg, Pass, Place};
use crate::layer::Layer;

pub(super) fn forward(pass: &Pass<'_>) {
    let (device, x) = (pass.device, pass.inputs[0]);
    match pass.node.layer {
        Layer::Add => {
            let arguments = [x.into(), pass.inputs[1].into(), pass.output.into()];
            device.each("add_two", pass.size_out(), &arguments);
        }
        Layer::Concat => each_input(pass, |which, columns, at, width| {
            let (from, to) = ((pass.inputs[which], columns, 0), (pass.output, width, at));
            copy_columns(pass, places(pass), from, to, columns);
        }),
        Layer::Take { first, numbers } => {
            let (from, to) = ((x, pass.shape().size(), first), (pass.output, numbers, 0));
            copy_columns(pass, pass.batch, from, to, numbers);
        }
        Layer::PaddedShortcut { channels } => {
            shortcut(pass, "padded_shortcut", x, pass.output, channels, pass.size_out());
        }
        _ => device.copy(x, pass.output, pass.size_in()),
    }
}

pub(super) fn backward(pass: &Pass<'_>, g: Place, inputs: &[Option<Place>]) {
    match pass.node.layer {
        Layer::Concat => each_input(pass, |which, columns, at, width| {
            if let Some(to) = inputs[which] {
                copy_columns(pass, places(pass), (g, width, at), (to, columns, 0), columns);
            }
        }),
        Layer::Take { first, numbers } => {
            if let Some(to) = inputs[0] {
                pass.device.zero(to, pass.size_in());
                let to = (to, pass.shape().size(), first);
                copy_columns(pass, pass.batch, (g, numbers, 0), to, numbers);
            }
        }
        Layer::PaddedShortcut { channels } => {
            if let Some(to) = inputs[0] {
                shortcut(pass, "padded_shortcut_back", g, to, channels, pass.size_in());
            }
        }
        // The gradient of a sum, or of an image flattened to a vector, is the one that comes in.
        _ => {
            for to in inputs.iter().flatten().filter(|to| **to != g) {
                pass.device.copy(g, *to, pass.size_in());
            }
        }
    }
}

fn shortcut(
    pass: &Pass<'_>,
    name: &'static str,
    from: Place,
    to: Place,
    channels: usize,
    numbers: usize,
) {
    let mut arguments: Vec<Arg> = vec![from.into(), to.into()];
    arguments.extend(pass.sides());
    arguments.push((channels as i32).into());
    pass.device.each(name, numbers, &arguments);
}

/// Calls `f(which, its channels, the first of them among those that go out, all that go out)`.
fn each_input(pass: &Pass<'_>, mut f: impl FnMut(usize, usize, usize, usize)) {
    let mut at = 0;
    for (which, input) in pass.node.inputs.iter().enumerate() {
        f(which, input.channels, at, pass.node.output.channels);
        at += input.channels;
    }
}

/// Places of all examples, each of which has all channels.
fn places(pass: &Pass<'_>) -> usize {
    pass.batch * pass.shape().places()
}

/// Columns of one matrix, given with its width and the first column, to columns of another of as many rows.
pub(super) fn copy_columns(
    pass: &Pass<'_>,
    rows: usize,
    (from, width, first): (Place, usize, usize),
    (to, width_out, at): (Place, usize, usize),
    columns: usize,
) {
    let [width, first, width_out, at, count] =
        [width, first, width_out, at, columns].map(|side| Arg::from(side as i32));
    let arguments = [from.into(), width, first, to.into(), width_out, at, count];
    pass.device.each("copy_columns", rows * columns, &arguments);
}
