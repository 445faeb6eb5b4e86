//! Kernels for CPUs, one file for each layer.
//!
//! A kernel turns a batch of activations into another, and gradients back. It owns
//! no numbers: parameters are slices of the one flat vector, what it keeps between the passes is a
//! buffer that the tape allocates once, and random numbers come from a stream that is handed over.
//! Activations of a batch lie example after example, each `[height, width, channels]`.
//!
//! Work on a batch is cut into pieces of [`PIECE`] examples whatever the number of threads, and
//! sums over pieces run in their order, so one thread and many give the same bytes.

mod activation;
mod add;
mod append;
mod average_pool;
mod batch_norm;
mod concat;
mod conv2d;
mod draw_normal;
mod dropout;
mod elu;
mod filter_response_norm;
mod flatten;
mod gaussian_dropout;
mod linear;
mod max_pool;
mod padded_shortcut;
mod random_features;
mod random_signs;
mod relu;
mod square;
mod swish;
mod take;

use add::Add;
use append::Append;
use average_pool::AveragePool;
use batch_norm::BatchNorm;
use concat::Concat;
use conv2d::Conv2d;
use draw_normal::DrawNormal;
use dropout::Dropout;
use dubio_random::stream::Stream;
use elu::Elu;
use filter_response_norm::FilterResponseNorm;
use flatten::Flatten;
use gaussian_dropout::GaussianDropout;
use linear::Linear;
use max_pool::MaxPool;
use padded_shortcut::PaddedShortcut;
use random_features::RandomFeatures;
use random_signs::RandomSigns;
use relu::Relu;
use square::Square;
use swish::Swish;
use take::Take;

use crate::layer::Layer;
pub(super) use crate::mode::{Mode, Statistics};
use crate::random_features::draw;
use crate::real::Real;
use crate::shape::Shape;

/// Examples that are worked on by one thread at a time.
pub(super) const PIECE: usize = 8;

/// Arithmetic operations below which handing pieces to other threads costs more than it gains. Their number depends on
/// the layer and the batch alone.
const WORTH_SHARING: usize = 1 << 18;

/// What a layer sees on the way forward.
pub(super) struct Forward<'a, T> {
    /// Its parameters.
    pub theta: &'a [T],
    /// Activations that come in.
    pub input: &'a [T],
    /// Those of its further inputs.
    pub others: &'a [&'a [T]],
    /// Activations that go out.
    pub output: &'a mut [T],
    /// What it keeps for the way back.
    pub saved: &'a mut [T],
    /// Room to work in, [`Kernel::scratch`] numbers for each piece.
    pub scratch: &'a mut [T],
    /// Room for sums in f64, [`Kernel::sums`] of them.
    pub sums: &'a mut [f64],
    /// Its running statistics.
    pub statistics: &'a mut [T],
    /// Number of examples.
    pub batch: usize,
    /// Shape of an input.
    pub shape: Shape,
    /// What the pass is for.
    pub mode: &'a Mode,
    /// Random numbers of this layer alone.
    pub noise: Option<&'a Stream>,
}

/// What a layer sees on the way back.
pub(super) struct Backward<'a, T> {
    /// Its parameters.
    pub theta: &'a [T],
    /// Activations that came in.
    pub input: &'a [T],
    /// Activations that went out.
    pub output: &'a [T],
    /// Gradient of the loss with respect to those.
    pub output_gradient: &'a [T],
    /// To be filled: gradient with respect to the input; empty when nobody needs it.
    pub input_gradient: &'a mut [T],
    /// To be filled: those with respect to its further inputs, likewise.
    pub other_gradients: &'a mut [&'a mut [T]],
    /// To be added to: gradient with respect to the parameters.
    pub gradient: &'a mut [T],
    /// What was kept.
    pub saved: &'a [T],
    /// Room to work in, [`Kernel::scratch`] numbers for each piece.
    pub scratch: &'a mut [T],
    /// Room for sums in f64, [`Kernel::sums`] of them.
    pub sums: &'a mut [f64],
    /// Number of examples.
    pub batch: usize,
    /// Shape of an input.
    pub shape: Shape,
    /// What the pass was for.
    pub mode: &'a Mode,
}

/// A layer at work: see the module's documentation.
pub(super) trait Kernel<T: Real>: Send + Sync {
    /// Numbers kept from forward to backward for a batch.
    fn saved(&self, _input: Shape, _batch: usize) -> usize {
        0
    }
    /// Numbers of room to work in for each piece.
    fn scratch(&self, _input: Shape) -> usize {
        0
    }
    /// Numbers of room for sums in f64.
    fn sums(&self, _input: Shape) -> usize {
        0
    }
    /// Activations forward.
    fn forward(&self, pass: Forward<'_, T>);
    /// Gradients back.
    fn backward(&self, pass: Backward<'_, T>);
}

/// The kernel of a layer.
pub(super) fn kernel<T: Real>(layer: &Layer, inputs: &[Shape]) -> Box<dyn Kernel<T>> {
    let input = inputs[0];
    match *layer {
        Layer::Linear { outputs } => Box::new(Linear { outputs }),
        Layer::Conv2d { channels, kernel, stride, padding, bias } => {
            Box::new(Conv2d { channels, kernel, stride, padding, bias })
        }
        Layer::MaxPool { size, stride, padding } => Box::new(MaxPool { size, stride, padding }),
        Layer::AveragePool { size } => Box::new(AveragePool { rows: size, columns: size }),
        Layer::GlobalAveragePool => {
            Box::new(AveragePool { rows: input.height, columns: input.width })
        }
        Layer::BatchNorm => Box::new(BatchNorm),
        Layer::FilterResponseNorm => Box::new(FilterResponseNorm),
        Layer::Relu => Box::new(Relu),
        Layer::Elu => Box::new(Elu),
        Layer::Swish => Box::new(Swish),
        Layer::Dropout { rate } => Box::new(Dropout { rate }),
        Layer::GaussianDropout { rate } => Box::new(GaussianDropout { rate }),
        Layer::Square => Box::new(Square),
        Layer::DrawNormal => Box::new(DrawNormal),
        Layer::RandomSigns => Box::new(RandomSigns),
        Layer::Flatten => Box::new(Flatten),
        Layer::Add => Box::new(Add),
        Layer::Concat => Box::new(Concat { channels: inputs.iter().map(|i| i.channels).collect() }),
        Layer::Append { numbers, .. } => Box::new(Append { numbers }),
        Layer::Take { first, numbers } => Box::new(Take { first, numbers }),
        Layer::RandomFeatures { features, length_scale, directions } => {
            Box::new(RandomFeatures::new(draw(input.size(), features, length_scale, directions)))
        }
        Layer::PaddedShortcut { channels } => Box::new(PaddedShortcut { channels }),
    }
}

/// Calls `f(piece, part of out, part of scratch)` for every piece of a batch.
fn each_piece<T: Real>(
    work: usize,
    out: &mut [T],
    per_piece: usize,
    scratch: &mut [T],
    scratch_per_piece: usize,
    f: impl Fn(usize, &mut [T], &mut [T]) + Send + Sync,
) {
    use rayon::prelude::*;
    if scratch_per_piece == 0 {
        if work < WORTH_SHARING {
            out.chunks_mut(per_piece).enumerate().for_each(|(i, out)| f(i, out, &mut []));
        } else {
            out.par_chunks_mut(per_piece).enumerate().for_each(|(i, out)| f(i, out, &mut []));
        }
    } else if work < WORTH_SHARING {
        let pieces = out.chunks_mut(per_piece).zip(scratch.chunks_mut(scratch_per_piece));
        pieces.enumerate().for_each(|(i, (out, scratch))| f(i, out, scratch));
    } else {
        let pieces = out.par_chunks_mut(per_piece).zip(scratch.par_chunks_mut(scratch_per_piece));
        pieces.enumerate().for_each(|(i, (out, scratch))| f(i, out, scratch));
    }
}
