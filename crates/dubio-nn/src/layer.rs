//! Layers as plain data: what each does, the shape it gives, the numbers it needs.
//!
//! Nothing here computes. An engine has a kernel for each (`cpu/layers`, one file each); all else, from
//! counts to files of weights, follows from what stands here.

use serde::{Deserialize, Serialize};

use crate::parameter::{Initial, Layout, Parameter};
use crate::shape::Shape;

/// What a layer does to one example.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// `y = x W^T + b`. Weights `[outputs, inputs]`, then biases `[outputs]`.
    Linear {
        /// Numbers that go out.
        outputs: usize,
    },
    /// A convolution with square kernels. Weights `[kernel, kernel, channels in, channels out]`, then
    /// biases `[channels out]` if there are any.
    Conv2d {
        /// Channels that go out.
        channels: usize,
        /// Side of the kernel.
        kernel: usize,
        /// Steps between windows.
        stride: usize,
        /// Places of zeros around the image.
        padding: usize,
        /// Whether there is a bias.
        bias: Bias,
    },
    /// The largest number of every window, with `padding` places of nothing around the image. The first
    /// of equals gets the gradient, as in PyTorch.
    MaxPool {
        /// Side of the window.
        size: usize,
        /// Steps between windows.
        stride: usize,
        /// Places around the image; fewer than the window has.
        padding: usize,
    },
    /// The mean of every window, side by side; what is left over at the right and at the bottom is
    /// dropped.
    AveragePool {
        /// Side of the window.
        size: usize,
    },
    /// The mean of the whole image.
    GlobalAveragePool,
    /// `y = weight (x - mean) / sqrt(var + 1e-5) + bias` per channel, over a batch: Ioffe and Szegedy
    /// 2015. Running statistics are means, then variances (with `n - 1`, as PyTorch keeps them).
    BatchNorm,
    /// `y = weight x / sqrt(mean over places of x^2 + 1e-6) + bias` per channel and example: Singh and
    /// Krishnan 2020, without the learnt threshold, since a smooth activation follows here.
    FilterResponseNorm,
    /// `max(0, x)`.
    Relu,
    /// `x` above 0, `exp(x) - 1` below: Clevert et al. 2016.
    Elu,
    /// `x / (1 + exp(-x))`: Ramachandran et al. 2017; also called SiLU.
    Swish,
    /// Keeps a number with probability `1 - rate` and divides it by that, so that its mean stays.
    /// Without noise it does nothing.
    Dropout {
        /// Fraction of numbers that are left out.
        rate: f64,
    },
    /// Multiplies by `Normal(1, rate / (1 - rate))`, which has the mean and the variance of dropout at
    /// this rate: Srivastava et al. 2014, section 10. Without noise it does nothing.
    GaussianDropout {
        /// Fraction of numbers that dropout of the same strength leaves out.
        rate: f64,
    },
    /// `x^2`.
    Square,
    /// A draw from `Normal(mean, variance)` for every number, of two inputs: `y = mean + sqrt(variance) z`. Where the
    /// variance is 0 there is no noise and no gradient of it. Without noise it gives the mean. The pre-activations of
    /// a layer with random weights are drawn so: Kingma et al. 2015.
    DrawNormal,
    /// Multiplies by random signs, one for each channel, the same at all places. Without noise it does nothing. In
    /// front of a layer and behind it they give every example a weight perturbation of its own: Wen et al. 2018.
    RandomSigns,
    /// An image as a vector: height, width, channels, the last running fastest. (PyTorch's runs
    /// channels, height, width: [`Layout::Inputs`].)
    Flatten,
    /// The sum of two inputs of one shape: the end of a residual block.
    Add,
    /// The channels of two or more inputs of one height and width, side by side: several heads, dense blocks.
    Concat,
    /// The inputs and, behind them, learnt numbers that are the same for every example: a noise that all share.
    Append {
        /// How many.
        numbers: usize,
        /// How they are drawn before training.
        initial: Initial,
    },
    /// Some consecutive inputs of a vector, the others left out.
    Take {
        /// Index of the first.
        first: usize,
        /// How many.
        numbers: usize,
    },
    /// `y = sqrt(2 / features) cos(W x + b)` with fixed random numbers, so that `y(x)' y(x')` is about
    /// `exp(-|x - x'|^2 / (2 length_scale^2))`: Rahimi and Recht 2007. The numbers are those of
    /// [`crate::random_features::draw`] and are not parameters: nothing moves them.
    RandomFeatures {
        /// Numbers that go out.
        features: usize,
        /// Distance over which the kernel falls.
        length_scale: f64,
        /// How the rows of `W` are drawn.
        directions: Directions,
    },
    /// Every other row and column, with as many channels of zeros put before and behind as it takes:
    /// He et al. 2016, option A of their CIFAR networks.
    PaddedShortcut {
        /// Channels that go out.
        channels: usize,
    },
}

/// Numbers of an example that [`Layer::DrawNormal`] draws from one generator, on every engine.
pub const NORMAL_CHUNK: usize = 4096;

/// Whether a layer adds a constant to each channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bias {
    /// It does.
    Yes,
    /// A normalisation that follows would take it away again.
    No,
}

/// How the directions of random features are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Directions {
    /// Independently: every number is normal.
    Gaussian,
    /// Each is distributed as if independent, but is at right angles to the others of its block, which has as many as
    /// there are inputs: Yu et al. 2016. Their lengths are chi-distributed as those of normal vectors are.
    Orthogonal,
}

impl Layer {
    /// A convolution without bias that keeps the size of images when its stride is 1.
    pub fn conv2d(channels: usize, kernel: usize, stride: usize) -> Self {
        Self::Conv2d { channels, kernel, stride, padding: kernel / 2, bias: Bias::No }
    }

    /// Whether it takes inputs of these shapes together.
    pub fn takes(&self, inputs: &[Shape]) -> bool {
        let places = |shape: &Shape| (shape.height, shape.width);
        match self {
            Self::Add | Self::DrawNormal => inputs.len() == 2 && inputs[0] == inputs[1],
            Self::Concat => {
                inputs.len() >= 2 && inputs.iter().all(|i| places(i) == places(&inputs[0]))
            }
            _ => inputs.len() == 1,
        }
    }

    /// Shape of an output.
    pub fn output(&self, inputs: &[Shape]) -> Shape {
        let input = inputs[0];
        match *self {
            Self::Linear { outputs } => Shape::vector(outputs),
            Self::Conv2d { channels, kernel, stride, padding, .. } => {
                Shape { channels, ..input.windows(kernel, stride, padding) }
            }
            Self::MaxPool { size, stride, padding } => input.windows(size, stride, padding),
            Self::AveragePool { size } => input.windows(size, size, 0),
            Self::GlobalAveragePool => Shape::vector(input.channels),
            Self::Flatten => Shape::vector(input.size()),
            Self::Append { numbers, .. } => Shape::vector(input.size() + numbers),
            Self::Take { numbers, .. } => Shape::vector(numbers),
            Self::RandomFeatures { features, .. } => Shape::vector(features),
            Self::PaddedShortcut { channels } => Shape { channels, ..input.windows(1, 2, 0) },
            Self::Concat => Shape { channels: inputs.iter().map(|i| i.channels).sum(), ..input },
            Self::BatchNorm
            | Self::FilterResponseNorm
            | Self::Relu
            | Self::Elu
            | Self::Swish
            | Self::Dropout { .. }
            | Self::GaussianDropout { .. }
            | Self::Square
            | Self::DrawNormal
            | Self::RandomSigns
            | Self::Add => input,
        }
    }

    /// Its parameters, in the order in which they lie in the flat vector.
    pub fn parameters(&self, inputs: &[Shape]) -> Vec<Parameter> {
        let input = inputs[0];
        match *self {
            Self::Linear { outputs } => {
                let fan = input.size();
                let initial = Initial::Uniform { fan };
                let (dims, torch) = (vec![outputs, fan], Layout::Inputs);
                let weight = Parameter { name: "weight", dims, initial, torch };
                vec![weight, bias(outputs, fan)]
            }
            Self::Conv2d { channels, kernel, bias: has_bias, .. } => {
                let fan = kernel * kernel * input.channels;
                let initial = match has_bias {
                    // Followed by a normalisation: He et al. 2015 with the number of outputs, as in their networks.
                    Bias::No => Initial::He { fan: kernel * kernel * channels },
                    Bias::Yes => Initial::Uniform { fan },
                };
                let dims = vec![kernel, kernel, input.channels, channels];
                let weight = Parameter { name: "weight", dims, initial, torch: Layout::Kernels };
                match has_bias {
                    Bias::No => vec![weight],
                    Bias::Yes => vec![weight, bias(channels, fan)],
                }
            }
            Self::BatchNorm | Self::FilterResponseNorm => vec![
                Parameter::per_channel("weight", input, 1.0),
                Parameter::per_channel("bias", input, 0.0),
            ],
            Self::Append { numbers, initial } => {
                let torch = Layout::Same;
                vec![Parameter { name: "value", dims: vec![numbers], initial, torch }]
            }
            _ => Vec::new(),
        }
    }

    /// Its running statistics, in their order.
    pub fn statistics(&self, inputs: &[Shape]) -> Vec<Parameter> {
        match self {
            Self::BatchNorm => vec![
                Parameter::per_channel("running_mean", inputs[0], 0.0),
                Parameter::per_channel("running_var", inputs[0], 1.0),
            ],
            _ => Vec::new(),
        }
    }

    /// Multiply-accumulates for one example.
    pub fn macs(&self, inputs: &[Shape]) -> u64 {
        let output = self.output(inputs).size();
        match *self {
            Self::Linear { .. } | Self::RandomFeatures { .. } => (output * inputs[0].size()) as u64,
            Self::Conv2d { kernel, .. } => (output * kernel * kernel * inputs[0].channels) as u64,
            _ => 0,
        }
    }

    /// Whether it draws random numbers in a pass that has noise.
    pub fn is_noisy(&self) -> bool {
        matches!(
            self,
            Self::Dropout { .. }
                | Self::GaussianDropout { .. }
                | Self::DrawNormal
                | Self::RandomSigns
        )
    }

    /// Whether a number that goes out stands where it came in, so that a flattened image remains one.
    pub(crate) fn keeps_order(&self) -> bool {
        match self {
            Self::BatchNorm
            | Self::FilterResponseNorm
            | Self::Relu
            | Self::Elu
            | Self::Swish
            | Self::Dropout { .. }
            | Self::GaussianDropout { .. }
            | Self::Square
            | Self::DrawNormal
            | Self::RandomSigns
            | Self::Flatten
            | Self::Add => true,
            Self::Linear { .. }
            | Self::Append { .. }
            | Self::Take { .. }
            | Self::RandomFeatures { .. }
            | Self::Conv2d { .. }
            | Self::MaxPool { .. }
            | Self::AveragePool { .. }
            | Self::GlobalAveragePool
            | Self::Concat
            | Self::PaddedShortcut { .. } => false,
        }
    }
}

fn bias(outputs: usize, fan: usize) -> Parameter {
    let initial = Initial::Uniform { fan };
    Parameter { name: "bias", dims: vec![outputs], initial, torch: Layout::Same }
}
