//! Layers, one file each.
//!
//! A layer is a rule for turning a batch of activations into another, and gradients back. It owns
//! no numbers: parameters are slices of the one flat vector, what it keeps between the passes is a
//! buffer that the tape allocates once, and random numbers come from a stream that is handed over.
//! Activations of a batch lie example after example, each `[height, width, channels]`.
//!
//! Work on a batch is cut into pieces of [`PIECE`] examples whatever the number of threads, and
//! sums over pieces run in their order, so one thread and many give the same bytes.

mod activation;
pub mod average_pool;
pub mod batch_norm;
pub mod conv2d;
pub mod dropout;
pub mod elu;
pub mod filter_response_norm;
pub mod flatten;
pub mod gaussian_dropout;
pub mod linear;
pub mod max_pool;
pub mod relu;
pub mod residual;
pub mod swish;

use dubio_random::stream::Stream;

use crate::real::Real;
use crate::shape::Shape;

/// Examples that are worked on by one thread at a time.
pub const PIECE: usize = 8;

/// Arithmetic operations below which handing pieces to other threads costs more than it gives.
/// A property of the layer and the batch alone.
pub(crate) const WORTH_SHARING: usize = 1 << 18;

/// How a parameter starts out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// The same number everywhere.
    Constant(f64),
    /// Normal with mean 0 and variance `2 / fan`: He et al. 2015.
    He {
        /// Number of inputs (or outputs) of a unit.
        fan: usize,
    },
    /// Uniform in `+-1 / sqrt(fan)`: the default of PyTorch's linear and convolutional layers.
    Uniform {
        /// Number of inputs of a unit.
        fan: usize,
    },
}

/// One of a layer's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name inside the layer, as PyTorch calls it.
    pub name: &'static str,
    /// Lengths of its axes as stored here.
    pub dims: Vec<usize>,
    /// How it starts out.
    pub start: Start,
}

impl Parameter {
    /// Numbers in it.
    pub fn size(&self) -> usize {
        self.dims.iter().product()
    }
}

/// Where batch normalisation takes its means and variances from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistics {
    /// From the batch, which also moves the running ones by this share of the way.
    Batch {
        /// Share of the new batch in the running statistics; PyTorch's `momentum`, 0.1 there.
        momentum: f64,
    },
    /// The running ones.
    Running,
}

/// What a pass is for.
#[derive(Clone, Debug)]
pub struct Mode {
    /// Statistics of batch normalisation.
    pub statistics: Statistics,
    /// Where dropout takes its masks from; `None` for no dropout.
    pub noise: Option<Stream>,
}

impl Mode {
    /// Which mask of its stream an example gets. In training each has its own; in prediction all have
    /// the same, so that a pass is a sample of the network and not of every example by itself.
    pub(crate) fn mask_of(&self, example: usize) -> usize {
        match self.statistics {
            Statistics::Batch { .. } => example,
            Statistics::Running => 0,
        }
    }

    /// Running statistics, no noise.
    pub fn evaluate() -> Self {
        Self { statistics: Statistics::Running, noise: None }
    }

    /// Statistics of the batch, and masks from this stream.
    pub fn train(noise: Stream) -> Self {
        Self { statistics: Statistics::Batch { momentum: 0.1 }, noise: Some(noise) }
    }
}

/// What a layer sees on the way forward.
pub struct Forward<'a, T> {
    /// Its parameters.
    pub theta: &'a [T],
    /// Activations that come in.
    pub input: &'a [T],
    /// Those of its second input, for a layer that has one.
    pub other: &'a [T],
    /// Activations that go out.
    pub output: &'a mut [T],
    /// What it keeps for the way back.
    pub saved: &'a mut [T],
    /// Room to work in, [`Layer::scratch`] numbers for each piece.
    pub scratch: &'a mut [T],
    /// Room for sums in f64, [`Layer::sums`] of them.
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
pub struct Backward<'a, T> {
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
    /// To be added to: gradient with respect to the parameters.
    pub gradient: &'a mut [T],
    /// What was kept.
    pub saved: &'a [T],
    /// Room to work in, [`Layer::scratch`] numbers for each piece.
    pub scratch: &'a mut [T],
    /// Room for sums in f64, [`Layer::sums`] of them.
    pub sums: &'a mut [f64],
    /// Number of examples.
    pub batch: usize,
    /// Shape of an input.
    pub shape: Shape,
    /// What the pass was for.
    pub mode: &'a Mode,
}

/// A layer: see the module's words.
pub trait Layer<T: Real>: Send + Sync {
    /// What it is, in one word.
    fn kind(&self) -> &'static str;
    /// Shape of an output.
    fn output(&self, input: Shape) -> Shape;
    /// Its parameters, in the order in which they lie in the flat vector.
    fn parameters(&self, _input: Shape) -> Vec<Parameter> {
        Vec::new()
    }
    /// How many running statistics it has; they start at the values of [`Layer::rest`].
    fn statistics(&self, _input: Shape) -> usize {
        0
    }
    /// The running statistics of a layer that has seen nothing.
    fn rest(&self, _statistics: &mut [T]) {}
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
    /// Whether it takes random numbers when there are any.
    fn is_noisy(&self) -> bool {
        false
    }
    /// Multiply-accumulates for one example.
    fn macs(&self, _input: Shape) -> u64 {
        0
    }
    /// Whether it adds a second input to the first; the gradient then goes to both unchanged.
    fn adds(&self) -> bool {
        false
    }
    /// Activations forward.
    fn forward(&self, pass: Forward<'_, T>);
    /// Gradients back.
    fn backward(&self, pass: Backward<'_, T>);
}

/// Calls `f(piece, part of out, part of scratch)` for every piece of a batch.
pub(crate) fn each_piece<T: Real>(
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
