//! Gradients of a layer's weights, example by example, kept as the factors that they are products of.

use std::ops::Range;
use std::sync::Arc;

use dubio_nn::engine::{Vector, Visited};
use dubio_nn::layer::{Bias, Layer};
use dubio_nn::network::{Network, Node};
use dubio_nn::shape::Shape;
use faer::{Mat, MatMut, MatRef};

use super::Weights;

/// Gradients of the weights of one layer for some examples. The gradient of an example is `sum_p g_p a_p'` over the
/// places of a convolution, with `g_p` the gradient at an output and `a_p` what the unit reads there, and 1 for the
/// bias.
#[derive(Clone, Debug)]
pub struct LayerGradients {
    /// The matrix of its weights.
    pub weights: Weights,
    /// How it reads its inputs.
    reads: Reads,
    /// `[examples, inputs]`.
    inputs: Arc<Vec<f64>>,
    /// `[examples, places, outputs]`.
    gradients: Arc<Vec<f64>>,
}

/// How a unit reads the inputs of an example.
#[derive(Clone, Copy, Debug)]
enum Reads {
    /// All of them, once.
    All,
    /// Window by window.
    Windows {
        input: Shape,
        output: Shape,
        kernel: usize,
        stride: usize,
        padding: usize,
        bias: Bias,
    },
}

impl LayerGradients {
    /// The gradients of a layer that an engine shows; `None` for layers other than linear and convolutional ones.
    pub fn of<V: Vector>(visited: &Visited<'_, V>) -> Option<Self> {
        Some(Self::read_from(visited, Weights::of(visited.node)?))
    }

    /// The same for a layer inside a stretch of the flat vector, with places counted from the start of the stretch;
    /// `None` for a layer outside it, whose numbers are then not read.
    pub fn inside<V: Vector>(visited: &Visited<'_, V>, stretch: &Range<usize>) -> Option<Self> {
        Some(Self::read_from(visited, Weights::of(visited.node)?.within(stretch)?))
    }

    /// The same for a layer inside a stretch, with places in the whole flat vector; `None` for a layer outside it,
    /// whose numbers are then not read.
    pub(crate) fn in_place<V: Vector>(
        visited: &Visited<'_, V>,
        stretch: &Range<usize>,
    ) -> Option<Self> {
        let weights = Weights::of(visited.node)?;
        weights.clone().within(stretch)?;
        Some(Self::read_from(visited, weights))
    }

    /// Whether the last layer of a network is the only one with weights inside a stretch of the flat vector: then the
    /// gradients at its outputs are those at the outputs of the network, and no backward pass is needed.
    pub(crate) fn are_of_the_end(network: &Network, stretch: &Range<usize>) -> bool {
        let inside = |node: &Node| Weights::of(node).and_then(|own| own.within(stretch)).is_some();
        let count = network.nodes().iter().filter(|node| inside(node)).count();
        count == 1 && network.nodes().last().is_some_and(inside)
    }

    /// The same layer and examples with other gradients at the outputs, `[examples, places, outputs]`.
    pub(crate) fn with_gradients(&self, gradients: Vec<f64>) -> Self {
        let (inputs, gradients) = (Arc::clone(&self.inputs), Arc::new(gradients));
        Self { inputs, weights: self.weights.clone(), gradients, ..*self }
    }

    fn read_from<V: Vector>(visited: &Visited<'_, V>, weights: Weights) -> Self {
        let node = visited.node;
        let reads = match node.layer {
            Layer::Conv2d { kernel, stride, padding, bias, .. } => {
                let (input, output) = (node.inputs[0], node.output);
                Reads::Windows { input, output, kernel, stride, padding, bias }
            }
            _ => Reads::All,
        };
        let read = |vector: &V| Arc::new(vector.read(0..vector.len()));
        let (inputs, gradients) = (read(visited.inputs), read(visited.output_gradients));
        Self { weights, reads, inputs, gradients }
    }

    /// With places counted from the start of a stretch of the flat vector; `None` where they lie outside it.
    pub fn within(self, stretch: &Range<usize>) -> Option<Self> {
        Some(Self { weights: self.weights.within(stretch)?, ..self })
    }

    /// Whether there is a bias.
    pub(crate) fn has_bias(&self) -> bool {
        !matches!(self.reads, Reads::Windows { bias: Bias::No, .. })
    }

    /// Places of an example: 1 except for convolutions.
    pub(crate) fn places(&self) -> usize {
        match self.reads {
            Reads::All => 1,
            Reads::Windows { output, .. } => output.places(),
        }
    }

    /// How many examples.
    pub(crate) fn examples(&self) -> usize {
        self.gradients.len() / (self.places() * self.weights.outputs)
    }

    /// Gradients at the outputs of some examples, `[examples * places, outputs]`.
    pub(crate) fn at_outputs(&self, examples: Range<usize>) -> MatRef<'_, f64> {
        let (places, outputs) = (self.places(), self.weights.outputs);
        let rows = examples.len() * places;
        let own = &self.gradients[examples.start * places * outputs..][..rows * outputs];
        MatRef::from_row_major_slice(own, rows, outputs)
    }

    /// What the units read of some examples, `[columns, examples * places]`: a column of the layer's matrix is a row here,
    /// so that what is read at one place lies together.
    pub(crate) fn read(&self, examples: Range<usize>) -> Mat<f64> {
        let size = self.inputs.len() / self.examples();
        let inputs = self.inputs.chunks_exact(size.max(1)).skip(examples.start);
        let mut read = Mat::zeros(self.weights.columns, examples.len() * self.places());
        if self.has_bias() {
            read.row_mut(self.weights.columns - 1).fill(1.0);
        }
        for (index, own) in inputs.take(examples.len()).enumerate() {
            self.read_one(own, read.as_mut().subcols_mut(index * self.places(), self.places()));
        }
        read
    }

    /// Fills in one example, `[columns, places]`; the row of the bias and the padding stay as they are.
    fn read_one(&self, own: &[f64], mut read: MatMut<'_, f64>) {
        let mut put = |place: usize, first: usize, numbers: &[f64]| {
            let column = read.as_mut().col_mut(place).try_as_col_major_mut().expect("a column");
            column.as_slice_mut()[first..][..numbers.len()].copy_from_slice(numbers);
        };
        let Reads::Windows { input, output, kernel, stride, padding, .. } = self.reads else {
            return put(0, 0, own);
        };
        for place in 0..output.places() {
            for tap in 0..kernel * kernel {
                let y = place / output.width * stride + tap / kernel;
                let x = place % output.width * stride + tap % kernel;
                let inside = |at: usize, side: usize| (padding..padding + side).contains(&at);
                if inside(y, input.height) && inside(x, input.width) {
                    let pixel = ((y - padding) * input.width + x - padding) * input.channels;
                    put(place, tap * input.channels, &own[pixel..][..input.channels]);
                }
            }
        }
    }

    /// The gradient of an example, `[outputs, columns]`.
    pub(crate) fn matrix(&self, example: usize) -> Mat<f64> {
        let one = example..example + 1;
        self.at_outputs(one.clone()).transpose() * self.read(one).transpose()
    }

    /// The same gradient, laid out as the layer's stretch of the flat vector.
    pub(crate) fn flat(&self, example: usize) -> Vec<f64> {
        self.weights.flat(self.matrix(example).as_ref())
    }

    /// Squares of the gradients, summed over the examples: the diagonal of `sum_n r_n r_n'`.
    pub fn squares(&self) -> Vec<f64> {
        let all = 0..self.examples();
        if self.places() == 1 {
            // The squares of a product `g a'` are the products of the squares.
            let squared =
                |x: MatRef<'_, f64>| Mat::from_fn(x.nrows(), x.ncols(), |i, j| x[(i, j)].powi(2));
            let [g, a] = [squared(self.at_outputs(all.clone())), squared(self.read(all).as_ref())];
            return self.weights.flat((g.transpose() * a.transpose()).as_ref());
        }
        let mut sums = vec![0.0; self.weights.parameters.len()];
        for example in all {
            for (sum, g) in sums.iter_mut().zip(self.flat(example)) {
                *sum += g * g;
            }
        }
        sums
    }
}
