//! Convolutions in bfloat16 by the instructions of compute capability 9.0. Both factors are converted first: a block of
//! threads then copies half as many bytes, and need not look at them.

use super::{Arg, Pass, Place, Sizes, convolve, to_weights};
use crate::cuda::device::{Device, HOPPER_DEPTH, Multiply, Program, Role, Tile};
use crate::layer::Layer;
use crate::network::Node;

const fn tile(rows: usize, columns: usize) -> Tile {
    Tile { rows, columns, warp_rows: rows / 8, warp_columns: columns }
}

/// Tiles, and how many operations each does in the time in which the smallest does one.
const TILES: [(Tile, f64); 4] =
    [(tile(128, 32), 1.0), (tile(128, 64), 1.6), (tile(256, 128), 2.8), (tile(256, 160), 3.2)];

/// Blocks that a large GPU works on at once. A constant, so that sums run in the same order on every GPU.
const AT_ONCE: usize = 132;

/// Channels whose taps come one after the other.
const BLOCKS: [usize; 3] = [32, 16, 8];

/// A program of every role and tile.
pub(in crate::cuda) fn programs() -> impl Iterator<Item = Program> {
    let roles = [Role::Forward, Role::ToInputs, Role::ToWeights];
    let by = Multiply::Hopper { block: BLOCKS[0] };
    roles.into_iter().flat_map(move |role| TILES.map(|(tile, _)| Program { role, tile, by }))
}

/// Whether a convolution runs this way: channels are multiples of eight, there is a bit for each tap, and the GPU has
/// the instructions.
pub(in crate::cuda::layers) fn is_for(device: &Device, node: &Node) -> bool {
    let few_taps = matches!(node.layer, Layer::Conv2d { kernel, .. } if kernel * kernel <= 32);
    let sides = [node.inputs[0].channels, node.output.channels];
    let eights = sides.iter().all(|channels| channels.is_multiple_of(8));
    device.is_hopper_in_bf16() && few_taps && eights
}

impl Sizes {
    /// The program that takes the least time, if time is proportional to operations over speed.
    pub(super) fn hopper(&self, role: Role) -> Program {
        let cost = |(tile, speed): &(Tile, f64)| {
            let [rows, columns] = [tile.rows, tile.columns].map(|side| side as f64);
            let rounds = match role {
                Role::ToWeights => self.cut(*tile).1 as f64,
                _ => {
                    let (down, across, classes) = self.product(role, self.capacity);
                    let blocks = down.div_ceil(tile.rows) * across.div_ceil(tile.columns) * classes;
                    blocks.div_ceil(AT_ONCE) as f64
                }
            };
            rounds * rows * columns / speed
        };
        let best = TILES.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
        let channels = match role {
            Role::ToInputs => self.output.channels,
            _ => self.input.channels,
        };
        let block = BLOCKS.into_iter().find(|block| channels.is_multiple_of(*block));
        let by = Multiply::Hopper { block: block.expect("channels come in eights") };
        Program { role, tile: best.expect("there are tiles").0, by }
    }

    /// Into how many stretches the places are cut for the gradient of the weights, and how long that takes, in units of
    /// the time that a block takes for a chunk. More stretches fill the last round of blocks better, and leave more
    /// parts to add up.
    fn cut(&self, tile: Tile) -> (usize, usize) {
        let (rows, columns, _) = self.product(Role::ToWeights, self.capacity);
        let blocks = rows.div_ceil(tile.rows) * columns.div_ceil(tile.columns);
        let chunks = (self.capacity * self.output.places()).div_ceil(HOPPER_DEPTH).max(1);
        let cost = |stretches: usize| {
            let rounds = (blocks * stretches).div_ceil(AT_ONCE);
            rounds * (chunks.div_ceil(stretches) + STARTING) + stretches / PARTS_IN_A_CHUNK
        };
        let most = (chunks / 4).clamp(1, 64);
        let best = (1..=most).min_by_key(|stretches| cost(*stretches)).expect("at least one");
        (best, cost(best))
    }
}

/// Chunks that a block could work on in the time that it takes to begin and to end.
const STARTING: usize = 4;
/// Parts that are added up in the time that a block takes for a chunk.
const PARTS_IN_A_CHUNK: usize = 3;

/// Numbers kept for the way back, two in the room of one f32: images and weights.
pub(super) fn saved(sizes: &Sizes) -> usize {
    images(sizes) + sizes.weights() / 2
}

/// Numbers that the input images take.
fn images(sizes: &Sizes) -> usize {
    sizes.capacity * sizes.input.size() / 2
}

/// Numbers of room: the gradient of what went out, and behind it the parts of sums.
pub(super) fn room(sizes: &Sizes, sums: usize) -> usize {
    let parts = sizes.cut(sizes.hopper(Role::ToWeights).tile).0 * sizes.weights();
    gradients(sizes) + sums.max(parts)
}

fn gradients(sizes: &Sizes) -> usize {
    sizes.capacity * sizes.output.size() / 2
}

fn convert(pass: &Pass<'_>, from: Place, to: Place, numbers: usize) {
    pass.device.each("to_bf16", numbers / 8, &[Arg::from(from), to.into()]);
}

/// Where numbers lie in bfloat16: where they are if they are halved, or else in a place for them.
fn converted(pass: &Pass<'_>, from: Place, halved: bool, room: Place, numbers: usize) -> Place {
    if halved {
        return from;
    }
    convert(pass, from, room, numbers);
    room
}

pub(super) fn forward(pass: &Pass<'_>, sizes: &Sizes, bias: Place) {
    let weights = pass.saved.plus(images(sizes));
    let own = converted(pass, pass.inputs[0], pass.halved.input, pass.saved, pass.size_in());
    convert(pass, pass.theta, weights, sizes.weights());
    let halved = Arg::from(i32::from(pass.halved.output));
    let places = [own, weights, bias, pass.output];
    convolve(pass, sizes, sizes.hopper(Role::Forward), places, &[halved]);
}

/// Gives where there is room for the sums of biases.
pub(super) fn backward(
    pass: &Pass<'_>,
    sizes: &Sizes,
    g: Place,
    to: Option<Place>,
    gradient: Place,
) -> Place {
    let own = if pass.halved.input { pass.inputs[0] } else { pass.saved };
    let (weights, parts) = (pass.saved.plus(images(sizes)), pass.scratch.plus(gradients(sizes)));
    let out = converted(pass, g, pass.halved.output_gradient, pass.scratch, pass.size_out());
    let program = sizes.hopper(Role::ToWeights);
    let stretches = sizes.stretches(HOPPER_DEPTH, sizes.cut(program.tile).0);
    to_weights(pass, sizes, program, stretches, [own, out, parts], gradient);
    if let Some(to) = to {
        let halved = Arg::from(i32::from(pass.halved.input_gradient));
        let places = [out, weights, Place::NOWHERE, to];
        convolve(pass, sizes, sizes.hopper(Role::ToInputs), places, &[halved]);
    }
    parts
}
