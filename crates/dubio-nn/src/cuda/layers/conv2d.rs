//! `Layer::Conv2d`: products of matrices whose windows are read in place.

mod hopper;

use super::{Arg, Device, Pass, Place, sums};
use crate::cuda::device::{DEPTH, Multiply, Program, Role, Tile};
use crate::layer::{Bias, Layer};
use crate::network::Node;
use crate::shape::Shape;

const fn tile(rows: usize, columns: usize, warp_rows: usize, warp_columns: usize) -> Tile {
    Tile { rows, columns, warp_rows, warp_columns }
}

/// Tiles, and how many operations each does in the time in which the smallest does one.
const TILES: [(Tile, f64); 7] = [
    (tile(128, 16, 32, 16), 1.0),
    (tile(64, 32, 32, 16), 1.1),
    (tile(128, 32, 32, 32), 1.4),
    (tile(64, 64, 32, 32), 1.5),
    (tile(128, 64, 64, 32), 1.9),
    (tile(128, 128, 64, 32), 2.2),
    (tile(128, 160, 64, 40), 2.2),
];
const TILES_TO_WEIGHTS: [(Tile, f64); 5] = [
    (tile(64, 16, 16, 16), 1.0),
    (tile(64, 32, 32, 16), 1.3),
    (tile(64, 64, 32, 32), 1.7),
    (tile(128, 128, 64, 32), 2.2),
    (tile(128, 160, 64, 40), 2.2),
];

fn tiles(role: Role) -> &'static [(Tile, f64)] {
    if role == Role::ToWeights { &TILES_TO_WEIGHTS } else { &TILES }
}

pub(super) use hopper::is_for as is_by_hopper;
pub(in crate::cuda) use hopper::programs as hopper_programs;

/// Every program that a convolution may ask for on any GPU.
pub(in crate::cuda) fn programs() -> impl Iterator<Item = Program> {
    [Role::Forward, Role::ToInputs, Role::ToWeights].into_iter().flat_map(|role| {
        let tiles = tiles(role).iter().map(|(tile, _)| *tile);
        tiles.flat_map(move |tile| {
            [4, 1].map(|width| Program { role, tile, by: Multiply::Single { width } })
        })
    })
}

/// Blocks that a large GPU works on at once. A constant, so that sums run in the same order on every GPU.
const AT_ONCE: usize = 264;

/// A convolution's sizes.
struct Sizes {
    images: usize,
    /// Images that there is room for: what is chosen by it stays the same for a smaller batch.
    capacity: usize,
    input: Shape,
    output: Shape,
    kernel: usize,
    stride: usize,
    padding: usize,
}

impl Sizes {
    fn of(node: &Node, images: usize, capacity: usize) -> Self {
        let Layer::Conv2d { kernel, stride, padding, .. } = node.layer else {
            unreachable!("sizes are those of a convolution");
        };
        let (input, output) = (node.inputs[0], node.output);
        Self { images, capacity, input, output, kernel, stride, padding }
    }

    /// Numbers of weights.
    fn weights(&self) -> usize {
        self.kernel * self.kernel * self.input.channels * self.output.channels
    }

    /// Rows and columns of the product for this many images, and into how many classes it falls.
    fn product(&self, role: Role, images: usize) -> (usize, usize, usize) {
        let Self { input, output, stride, .. } = self;
        match role {
            Role::Forward => (images * output.places(), output.channels, 1),
            Role::ToInputs => {
                let places = input.height.div_ceil(*stride) * input.width.div_ceil(*stride);
                (images * places, input.channels, stride * stride)
            }
            Role::ToWeights => (self.weights() / output.channels, output.channels, 1),
        }
    }

    /// The tile that takes the least time, if time is proportional to operations over speed.
    fn tile(&self, role: Role) -> Tile {
        let (rows, columns, classes) = self.product(role, self.capacity);
        let cost = |(tile, speed): &(Tile, f64)| {
            let blocks = rows.div_ceil(tile.rows) * columns.div_ceil(tile.columns) * classes;
            // For weights, the places are shared among as many blocks as there is room for.
            let least = if role == Role::ToWeights { 1 } else { AT_ONCE };
            (blocks.max(least) * tile.rows * tile.columns) as f64 / speed
        };
        let best = tiles(role).iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
        best.expect("there are tiles").0
    }

    /// Blocks of threads: down, across, and one layer for each class.
    fn blocks(&self, role: Role, tile: Tile) -> [usize; 3] {
        let (rows, columns, classes) = self.product(role, self.images);
        [rows.div_ceil(tile.rows), columns.div_ceil(tile.columns), classes]
    }

    /// The most stretches that the places are cut into for the gradient of the weights: fewer for fewer images.
    fn most_stretches(&self, images: usize) -> usize {
        let [down, across, _] = self.blocks(Role::ToWeights, self.tile(Role::ToWeights));
        let chunks = (images * self.output.places()).div_ceil(DEPTH).max(1);
        // Four times as many: each block works on little at a time, and waits for most of it.
        (4 * AT_ONCE).div_ceil(down * across).clamp(1, chunks.div_ceil(8))
    }

    /// Chunks of `depth` places that a block adds up, and how many stretches of them there are, at most `most`.
    fn stretches(&self, depth: usize, most: usize) -> (usize, usize) {
        let chunks = (self.images * self.output.places()).div_ceil(depth).max(1);
        let each = chunks.div_ceil(most);
        (each, chunks.div_ceil(each))
    }

    /// Counts that every kernel takes, the image that it reads first.
    fn counts(&self, role: Role) -> [Arg; 10] {
        let (from, to) = match role {
            Role::ToInputs => (self.output, self.input),
            _ => (self.input, self.output),
        };
        [
            self.images,
            from.height,
            from.width,
            from.channels,
            to.height,
            to.width,
            to.channels,
            self.kernel,
            self.stride,
            self.padding,
        ]
        .map(|count| (count as i32).into())
    }

    /// Four numbers are copied at once where the rows of all that is copied begin at multiples of four;
    /// `weights_at_four` says whether the weights do.
    fn program(&self, role: Role, weights_at_four: bool) -> Program {
        let fours = |channels: usize| channels.is_multiple_of(4);
        let (inputs, outputs) = (fours(self.input.channels), fours(self.output.channels));
        let can = match role {
            Role::Forward => inputs && outputs && weights_at_four,
            Role::ToInputs => outputs && weights_at_four,
            Role::ToWeights => inputs && outputs,
        };
        let by = Multiply::Single { width: if can { 4 } else { 1 } };
        Program { role, tile: self.tile(role), by }
    }
}

/// The programs of a convolution.
pub(super) fn needs(node: &Node, capacity: usize, device: &Device) -> Vec<Program> {
    let sizes = Sizes::of(node, capacity, capacity);
    let at_four = node.parameters.start.is_multiple_of(4);
    let by_hopper = hopper::is_for(device, node);
    [Role::Forward, Role::ToInputs, Role::ToWeights]
        .map(|role| if by_hopper { sizes.hopper(role) } else { sizes.program(role, at_four) })
        .into()
}

/// Numbers kept for the way back.
pub(super) fn saved(node: &Node, capacity: usize, device: &Device) -> usize {
    if hopper::is_for(device, node) {
        hopper::saved(&Sizes::of(node, capacity, capacity))
    } else {
        0
    }
}

/// Numbers of room for the parts of the gradients of weights and biases.
pub(super) fn room(node: &Node, capacity: usize, device: &Device) -> usize {
    let sizes = Sizes::of(node, capacity, capacity);
    let sums = sums::room(capacity * sizes.output.places(), sizes.output.channels);
    if hopper::is_for(device, node) {
        return hopper::room(&sizes, sums);
    }
    sums.max(sizes.most_stretches(capacity) * sizes.weights())
}

pub(super) fn forward(pass: &Pass<'_>, bias: Bias) {
    let sizes = Sizes::of(pass.node, pass.batch, pass.capacity);
    let bias = match bias {
        Bias::Yes => pass.theta.plus(sizes.weights()),
        Bias::No => Place::NOWHERE,
    };
    if hopper::is_for(pass.device, pass.node) {
        return hopper::forward(pass, &sizes, bias);
    }
    let program = sizes.program(Role::Forward, pass.theta.is_aligned());
    let places = [pass.inputs[0], pass.theta, bias, pass.output];
    convolve(pass, &sizes, program, places, &[]);
}

pub(super) fn backward(pass: &Pass<'_>, bias: Bias, g: Place, to: Option<Place>, gradient: Place) {
    let sizes = Sizes::of(pass.node, pass.batch, pass.capacity);
    let mut scratch = pass.scratch;
    if hopper::is_for(pass.device, pass.node) {
        scratch = hopper::backward(pass, &sizes, g, to, gradient);
    } else {
        let program = sizes.program(Role::ToWeights, true);
        let stretches = sizes.stretches(DEPTH, sizes.most_stretches(sizes.images));
        let places = [pass.inputs[0], g, scratch];
        to_weights(pass, &sizes, program, stretches, places, gradient);
        if let Some(to) = to {
            let program = sizes.program(Role::ToInputs, pass.theta.is_aligned());
            convolve(pass, &sizes, program, [g, pass.theta, Place::NOWHERE, to], &[]);
        }
    }
    if bias == Bias::Yes {
        let (rows, channels) = (pass.batch * sizes.output.places(), sizes.output.channels);
        let biases = gradient.plus(sizes.weights());
        sums::of_rows(pass.device, g, scratch, biases, (rows, channels));
    }
}

/// From images, weights and biases to a place.
fn convolve(pass: &Pass<'_>, sizes: &Sizes, program: Program, places: [Place; 4], more: &[Arg]) {
    let arguments = [&places.map(Arg::from)[..], &sizes.counts(program.role), more].concat();
    pass.device.run(&program, sizes.blocks(program.role, program.tile), &arguments);
}

/// From this many numbers on, parts are added up four numbers at a time: fewer need more threads for each.
const MANY: usize = 1 << 16;

/// From images, the gradient of what they became, and room for parts.
fn to_weights(
    pass: &Pass<'_>,
    sizes: &Sizes,
    program: Program,
    (each, stretches): (usize, usize),
    places: [Place; 3],
    gradient: Place,
) {
    let [down, across, _] = sizes.blocks(Role::ToWeights, program.tile);
    let at_once = stretches == 1 && gradient.is_aligned();
    let parts = if at_once { gradient } else { places[2] };
    let places = [places[0], places[1], parts].map(Arg::from);
    let counts = sizes.counts(Role::ToWeights);
    let arguments = [&places[..], &counts, &[(each as i32).into()]].concat();
    pass.device.run(&program, [down, across, stretches], &arguments);
    if at_once {
        return;
    }
    let numbers = sizes.weights();
    let [parts, sums] = [parts, gradient].map(Arg::from);
    let stretches = Arg::from(stretches as i32);
    if numbers >= MANY && numbers.is_multiple_of(4) {
        pass.device.each("add_parts_by_fours", numbers / 4, &[parts, sums, stretches]);
    } else {
        let arguments = [parts, sums, stretches, (numbers as i32).into()];
        pass.device.launch("add_parts", (numbers.div_ceil(32), 1), (32, 8), &arguments);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;

    /// What is kept for a whole batch is enough for every smaller one.
    #[test]
    fn smaller_batches_have_room_for_their_parts() {
        for (side, channels, kernel) in
            [(32, [16, 16], 3), (16, [32, 32], 3), (32, [160, 160], 3), (8, [640, 640], 1)]
        {
            let mut network = Network::new(Shape::image(channels[0], side, side));
            network.then("layer", Layer::conv2d(channels[1], kernel, 1));
            let node = &network.nodes()[0];
            let whole = Sizes::of(node, 128, 128);
            let most = whole.most_stretches(128);
            for images in 1..=128 {
                let sizes = Sizes::of(node, images, 128);
                let (_, parts) = sizes.stretches(DEPTH, sizes.most_stretches(images));
                assert!(parts <= most, "{parts} for {images} images, {most} for 128");
            }
        }
    }
}
