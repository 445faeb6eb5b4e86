//! How a network describes its numbers: their names, their axes, where they start.

use std::ops::Range;

use crate::shape::Shape;

/// A parameter's stretch of the flat vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Name of the layer and of the parameter: `layer1.0.conv1.weight`.
    pub name: String,
    /// Where it lies.
    pub range: Range<usize>,
}

/// How a parameter is drawn before training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initial {
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

/// How PyTorch lays out the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As here.
    Same,
    /// Kernels of a convolution: `[out, in, k, k]` there, `[k, k, in, out]` here.
    Kernels,
    /// The last axis runs over the numbers that come in. Where these are an image, flattened, it runs
    /// channels, height, width there and height, width, channels here.
    Inputs,
}

/// One of a layer's parameters, or of its running statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name inside the layer, as PyTorch calls it.
    pub name: &'static str,
    /// Lengths of its axes in the flat vector.
    pub dims: Vec<usize>,
    /// How it starts out.
    pub initial: Initial,
    /// How it lies in PyTorch.
    pub torch: Layout,
}

impl Parameter {
    /// Numbers in it.
    pub fn size(&self) -> usize {
        self.dims.iter().product()
    }

    /// One number for each channel, all the same. Behind a flattened image every number is a channel.
    pub(crate) fn per_channel(name: &'static str, input: Shape, value: f64) -> Self {
        let torch = if input.places() == 1 { Layout::Inputs } else { Layout::Same };
        Self { name, dims: vec![input.channels], initial: Initial::Constant(value), torch }
    }
}
