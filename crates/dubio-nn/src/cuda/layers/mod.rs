//! What each layer asks of the GPU, one file for each layer.

mod activation;
mod append;
pub(super) mod batch_norm;
mod conv2d;
mod draw_normal;
mod dropout;
mod filter_response_norm;
mod joints;
mod linear;
mod pool;
mod random_features;
mod random_signs;

use std::sync::Arc;

pub(super) use activation::{MOST_ROWS, backward_with_sums};
pub(super) use conv2d::{hopper_programs, programs};

use super::device::{Arg, Device, Place, Program};
use crate::layer::Layer;
use crate::mode::Mode;
use crate::network::Node;
use crate::random_features::draw;
use crate::shape::Shape;

/// What of a layer's pass lies in bfloat16, two numbers in the room of one f32.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Halved {
    pub input: bool,
    pub output: bool,
    pub input_gradient: bool,
    pub output_gradient: bool,
}

/// What a layer sees, on the way forward and back.
pub(super) struct Pass<'a> {
    pub device: &'a Arc<Device>,
    pub node: &'a Node,
    /// Examples.
    pub batch: usize,
    /// Examples that there is room for.
    pub capacity: usize,
    /// Its parameters.
    pub theta: Place,
    /// Activations that come in, one place for each input.
    pub inputs: Vec<Place>,
    /// Activations that go out.
    pub output: Place,
    /// What it keeps for the way back, [`saved`] numbers.
    pub saved: Place,
    /// Room to work in, [`scratch`] numbers.
    pub scratch: Place,
    /// What of it lies in bfloat16.
    pub halved: Halved,
    /// What the pass is for.
    pub mode: &'a Mode,
    /// Where the key of this layer's random numbers is, if it draws any.
    pub noise: Option<Place>,
}

impl Pass<'_> {
    fn shape(&self) -> Shape {
        self.node.inputs[0]
    }
    /// Numbers that come in.
    fn size_in(&self) -> usize {
        self.batch * self.shape().size()
    }
    /// Numbers that go out.
    fn size_out(&self) -> usize {
        self.batch * self.node.output.size()
    }
    /// Height, width and channels that come in, height and width that go out: what most kernels ask for first.
    fn sides(&self) -> [Arg; 5] {
        let (input, output) = (self.shape(), self.node.output);
        [input.height, input.width, input.channels, output.height, output.width]
            .map(|side| (side as i32).into())
    }
}

/// Numbers kept from forward to backward.
pub(super) fn saved(node: &Node, capacity: usize, device: &Device) -> usize {
    match node.layer {
        Layer::Conv2d { .. } => conv2d::saved(node, capacity, device),
        Layer::MaxPool { .. } => node.output.size() * capacity,
        Layer::BatchNorm => 2 * node.inputs[0].channels,
        Layer::FilterResponseNorm => node.inputs[0].channels * capacity,
        Layer::Dropout { .. }
        | Layer::GaussianDropout { .. }
        | Layer::DrawNormal
        | Layer::RandomSigns => node.inputs[0].size() * capacity,
        Layer::RandomFeatures { features, .. } => {
            random_features::saved(node.inputs[0].size(), features, capacity)
        }
        _ => 0,
    }
}

/// Numbers that a layer keeps from the start, at the front of what it keeps for the way back.
pub(super) fn fixed(node: &Node) -> Vec<f32> {
    match node.layer {
        Layer::RandomFeatures { features, length_scale, directions } => {
            random_features::fixed(draw(node.inputs[0].size(), features, length_scale, directions))
        }
        _ => Vec::new(),
    }
}

/// Numbers of room to work in.
pub(super) fn scratch(node: &Node, capacity: usize, device: &Device) -> usize {
    let input = node.inputs[0];
    match node.layer {
        Layer::Linear { outputs } => sums::room(capacity, outputs),
        Layer::Conv2d { .. } => conv2d::room(node, capacity, device),
        Layer::BatchNorm => {
            sums::room(capacity * input.places(), input.channels) + 2 * input.channels
        }
        Layer::FilterResponseNorm => 2 * input.channels * (capacity + 1),
        Layer::Append { numbers, .. } => append::room(capacity, numbers),
        Layer::RandomFeatures { features, .. } => features * capacity,
        _ => 0,
    }
}

/// Programs that a layer runs besides the kernels that every device has.
pub(super) fn needs(node: &Node, capacity: usize, device: &Device) -> Vec<Program> {
    match node.layer {
        Layer::Conv2d { .. } => conv2d::needs(node, capacity, device),
        _ => Vec::new(),
    }
}

/// Whether a layer can read and write activations and gradients in bfloat16.
pub(super) fn halves(node: &Node, device: &Device) -> bool {
    match node.layer {
        Layer::Conv2d { .. } => conv2d::is_by_hopper(device, node),
        Layer::BatchNorm => device.is_hopper_in_bf16() && batch_norm::can_be_halved(node),
        _ => false,
    }
}

/// Whether a linear layer's backward pass works out the gradient of its biases.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Biases {
    /// It does.
    Wanted,
    /// What comes before it on the way back, an activation or the loss, has done so.
    Done,
}

/// Whether a layer and the activation that reads it can be worked out together.
pub(super) fn takes_activation(layer: &Layer) -> bool {
    matches!(layer, Layer::Linear { .. } | Layer::BatchNorm)
}

/// A layer that [`takes_activation`] and the activation that reads it, forward. The output of a batch normalisation
/// itself is not kept.
pub(super) fn forward_activated(pass: &Pass<'_>, next: &Pass<'_>, statistics: Place) {
    match pass.node.layer {
        Layer::Linear { .. } => linear::forward_activated(pass, next),
        _ => batch_norm::forward(pass, statistics, Some(next)),
    }
}

/// Where the gradient of an input goes.
#[derive(Clone, Copy)]
pub(super) struct To {
    pub place: Place,
    /// Whether it is added to what is there.
    pub adds: bool,
}

/// Activations forward.
pub(super) fn forward(pass: &Pass<'_>, statistics: Place) {
    match pass.node.layer {
        Layer::Linear { outputs } => linear::forward(pass, outputs),
        Layer::Conv2d { bias, .. } => conv2d::forward(pass, bias),
        Layer::MaxPool { .. } | Layer::AveragePool { .. } | Layer::GlobalAveragePool => {
            pool::forward(pass);
        }
        Layer::BatchNorm => batch_norm::forward(pass, statistics, None),
        Layer::FilterResponseNorm => filter_response_norm::forward(pass),
        Layer::Relu | Layer::Elu | Layer::Swish | Layer::Square => activation::forward(pass),
        Layer::Dropout { .. } | Layer::GaussianDropout { .. } => dropout::forward(pass),
        Layer::DrawNormal => draw_normal::forward(pass),
        Layer::RandomSigns => random_signs::forward(pass),
        Layer::Flatten
        | Layer::Add
        | Layer::Concat
        | Layer::Take { .. }
        | Layer::PaddedShortcut { .. } => {
            joints::forward(pass);
        }
        Layer::Append { numbers, .. } => append::forward(pass, numbers),
        Layer::RandomFeatures { features, .. } => random_features::forward(pass, features),
    }
}

/// Gradients back: of the inputs where there is a place for them, and of the parameters.
pub(super) fn backward(
    pass: &Pass<'_>,
    output_gradient: Place,
    inputs: &[Option<Place>],
    (gradient, biases): (Place, Biases),
) {
    let first = inputs[0];
    match pass.node.layer {
        Layer::Linear { outputs } => {
            linear::backward(pass, outputs, output_gradient, first, (gradient, biases));
        }
        Layer::Conv2d { bias, .. } => {
            conv2d::backward(pass, bias, output_gradient, first, gradient);
        }
        Layer::MaxPool { .. } | Layer::AveragePool { .. } | Layer::GlobalAveragePool => {
            pool::backward(pass, output_gradient, first);
        }
        Layer::BatchNorm => unreachable!("it adds by itself: see `batch_norm::backward`"),
        Layer::FilterResponseNorm => {
            filter_response_norm::backward(pass, output_gradient, first, gradient);
        }
        Layer::Relu | Layer::Elu | Layer::Swish | Layer::Square => {
            activation::backward(pass, output_gradient, first);
        }
        Layer::Dropout { .. } | Layer::GaussianDropout { .. } => {
            dropout::backward(pass, output_gradient, first);
        }
        Layer::DrawNormal => draw_normal::backward(pass, output_gradient, inputs),
        Layer::RandomSigns => random_signs::backward(pass, output_gradient, first),
        Layer::Flatten
        | Layer::Add
        | Layer::Concat
        | Layer::Take { .. }
        | Layer::PaddedShortcut { .. } => {
            joints::backward(pass, output_gradient, inputs);
        }
        Layer::Append { numbers, .. } => {
            append::backward(pass, numbers, output_gradient, first, gradient);
        }
        Layer::RandomFeatures { features, .. } => {
            random_features::backward(pass, features, output_gradient, first);
        }
    }
}

/// Sums over the rows of a matrix, channel by channel, in an order that depends on its size alone.
mod sums {
    use super::activation::NOTHING;
    use super::{Arg, Device, Place};

    /// Rows of a chunk.
    const CHUNK: usize = 256;

    /// Which sums.
    #[derive(Clone, Copy)]
    pub(super) enum What {
        /// Of the numbers.
        Plain = 0,
        /// Of their distances from the first row, and of the squares of those.
        Spread = 1,
        /// Of gradients, and of gradients times normalised inputs.
        Back = 2,
    }

    /// What is added up: the numbers, gradients and what belongs to each channel; and the activation behind them.
    #[derive(Clone, Copy)]
    pub(super) struct Of {
        pub x: Place,
        pub g: Place,
        pub saved: Place,
        pub weight: Place,
        pub activation: Arg,
        /// Whether the numbers, and the gradients, lie in bfloat16.
        pub halved: [bool; 2],
    }

    impl Of {
        /// Numbers alone.
        pub(super) fn plain(x: Place) -> Self {
            let [g, saved, weight] = [Place::NOWHERE; 3];
            Self { x, g, saved, weight, activation: NOTHING.into(), halved: [false; 2] }
        }
    }

    /// Numbers that the parts of the sums take.
    pub(super) fn room(rows: usize, channels: usize) -> usize {
        2 * channels * rows.div_ceil(CHUNK)
    }

    /// Works out a part for each chunk of rows; gives how many there are.
    pub(super) fn parts(
        device: &Device,
        what: What,
        of: Of,
        parts: Place,
        sides: (usize, usize),
    ) -> usize {
        parts_or_sums(device, what, of, [parts, Place::NOWHERE], sides)
    }

    /// The same, or, if there is a place for sums and one chunk alone, the sums.
    fn parts_or_sums(
        device: &Device,
        what: What,
        of: Of,
        to: [Place; 2],
        (rows, channels): (usize, usize),
    ) -> usize {
        let chunks = rows.div_ceil(CHUNK);
        if of.halved.contains(&true) {
            by_eights(device, what, of, to[0], (rows, channels));
            return chunks;
        }
        let [x, g, saved, weight] = [of.x, of.g, of.saved, of.weight].map(Arg::from);
        let [parts, sums] = to.map(Arg::from);
        let lanes = channels.next_power_of_two().min(32);
        let counts: [Arg; 4] = [rows, channels, CHUNK, lanes].map(|count| (count as i32).into());
        let [rows, width, chunk, across] = counts;
        let places = [x, g, saved, weight, parts, sums];
        let arguments =
            [&[(what as i32).into(), of.activation][..], &places, &[rows, width, chunk, across]]
                .concat();
        device.launch("column_parts", (chunks, channels.div_ceil(lanes)), (256, 1), &arguments);
        chunks
    }

    /// The same of what lies in bfloat16, at least in part.
    fn by_eights(
        device: &Device,
        what: What,
        of: Of,
        parts: Place,
        (rows, channels): (usize, usize),
    ) {
        let places = [of.x, of.g, of.saved, of.weight, parts].map(Arg::from);
        let halved = i32::from(of.halved[0]) + 2 * i32::from(of.halved[1]);
        let counts = [halved, rows as i32, channels as i32, CHUNK as i32].map(Arg::from);
        let arguments = [&[(what as i32).into(), of.activation][..], &places, &counts].concat();
        let blocks = (rows.div_ceil(CHUNK), channels.div_ceil(32));
        device.launch("column_parts_by_eights", blocks, (256, 1), &arguments);
    }

    /// The sums of the rows.
    pub(super) fn of_rows(
        device: &Device,
        x: Place,
        scratch: Place,
        sums: Place,
        (rows, channels): (usize, usize),
    ) {
        let at_once = if rows <= CHUNK { sums } else { Place::NOWHERE };
        let (of, to) = (Of::plain(x), [scratch, at_once]);
        let chunks = parts_or_sums(device, What::Plain, of, to, (rows, channels)) as i32;
        if rows <= CHUNK {
            return;
        }
        let arguments = [scratch.into(), sums.into(), chunks.into(), (channels as i32).into()];
        device.launch("column_sums", (channels.div_ceil(32), 1), (32, 8), &arguments);
    }
}
