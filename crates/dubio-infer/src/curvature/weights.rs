//! The weights of a layer as one matrix.

use std::ops::Range;

use dubio_nn::layer::{Bias, Layer};
use dubio_nn::network::{Network, Node};
use faer::MatRef;

/// The weights of a linear or convolutional layer as a matrix `[outputs, columns]`: a column for each number that a
/// unit reads, and a last one for the bias where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Its stretch of the flat vector.
    pub parameters: Range<usize>,
    /// Rows.
    pub outputs: usize,
    /// Columns.
    pub columns: usize,
    order: Order,
}

/// How the matrix lies in the flat vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Row by row, then the biases: a linear layer.
    Rows,
    /// Column by column: a convolution.
    Columns,
}

impl Weights {
    /// The weights of a layer; `None` where it has none.
    pub fn of(node: &Node) -> Option<Self> {
        let parameters = node.parameters.clone();
        match node.layer {
            Layer::Linear { outputs } => {
                let columns = node.inputs[0].size() + 1;
                Some(Self { parameters, outputs, columns, order: Order::Rows })
            }
            Layer::Conv2d { channels, kernel, bias, .. } => {
                let columns =
                    kernel * kernel * node.inputs[0].channels + usize::from(bias == Bias::Yes);
                Some(Self { parameters, outputs: channels, columns, order: Order::Columns })
            }
            _ => None,
        }
    }

    /// The weights of a network's layers inside a stretch of the flat vector, with places counted from the start of the
    /// stretch.
    pub fn inside(network: &Network, stretch: &Range<usize>) -> Vec<Self> {
        let all = network.nodes().iter().filter_map(Self::of);
        all.filter_map(|weights| weights.within(stretch)).collect()
    }

    /// With places counted from the start of a stretch of the flat vector; `None` where they lie outside it.
    pub(crate) fn within(mut self, stretch: &Range<usize>) -> Option<Self> {
        let Range { start, end } = self.parameters;
        let inside = stretch.start <= start && end <= stretch.end;
        self.parameters = start.wrapping_sub(stretch.start)..end.wrapping_sub(stretch.start);
        inside.then_some(self)
    }

    /// Where an entry of the matrix lies in the layer's stretch.
    fn place(&self, output: usize, column: usize) -> usize {
        match self.order {
            Order::Rows if column + 1 < self.columns => output * (self.columns - 1) + column,
            Order::Rows | Order::Columns => column * self.outputs + output,
        }
    }

    /// A matrix as the layer's stretch of the flat vector.
    pub(crate) fn flat(&self, matrix: MatRef<'_, f64>) -> Vec<f64> {
        let mut flat = vec![0.0; self.parameters.len()];
        for column in 0..self.columns {
            for output in 0..self.outputs {
                flat[self.place(output, column)] = matrix[(output, column)];
            }
        }
        flat
    }

    /// As four numbers.
    pub(crate) fn numbers(&self) -> [f64; 4] {
        let by_columns = usize::from(self.order == Order::Columns);
        [self.parameters.start, self.outputs, self.columns, by_columns].map(|number| number as f64)
    }

    /// Reads back what [`Self::numbers`] gave.
    pub(crate) fn read(numbers: &[f64]) -> Self {
        let [start, outputs, columns, by_columns] = [0, 1, 2, 3].map(|i| numbers[i] as usize);
        let order = if by_columns == 1 { Order::Columns } else { Order::Rows };
        Self { parameters: start..start + outputs * columns, outputs, columns, order }
    }
}
