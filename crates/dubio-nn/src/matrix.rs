//! The weights of layers as matrices in a flat vector, and factors on both of their sides.
//!
//! `y = ((x r) W) s + b` with a factor `r_i` for each input and `s_o` for each output is the layer with the weights
//! `W_io r_i s_o`: methods whose members share `W` need no layer of their own, only these products and their chain rule.

use std::ops::Range;

use crate::real::Real;

/// What a layer, or a network, reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// The data.
    Data,
    /// What layers before it make of the data.
    Hidden,
}

/// A side of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// One number for each row.
    Rows,
    /// One number for each column.
    Columns,
}

/// The weights of a linear or convolutional layer: `[rows, columns]`; in a convolution, one such matrix for each place
/// of its kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// Where they lie in the flat vector.
    pub range: Range<usize>,
    /// Rows.
    pub rows: usize,
    /// Columns, which run fastest.
    pub columns: usize,
    /// The side of the inputs, or of the channels that come in; the other is that of the outputs.
    pub inputs: Side,
    /// Where the layer's biases lie; empty where it has none.
    pub bias: Range<usize>,
    /// What comes in.
    pub reads: Reads,
}

impl Matrix {
    /// Where the layer's weights and biases lie, which adjoin.
    pub fn stretch(&self) -> Range<usize> {
        self.range.start..self.range.end.max(self.bias.end)
    }

    /// How many factors there are on both sides.
    pub fn factors(&self) -> usize {
        self.rows + self.columns
    }

    /// Whether the layer multiplies every window of an image, with a kernel as the matrix `[places rows, columns]`.
    pub fn convolves(&self) -> bool {
        self.inputs == Side::Rows
    }

    /// Places of a kernel; 1 for a linear layer.
    pub(crate) fn places(&self) -> usize {
        self.range.len() / (self.rows * self.columns)
    }

    /// The same matrix in a stretch of the flat vector that begins at `start`.
    pub fn after(&self, start: usize) -> Self {
        let moved = |range: &Range<usize>| range.start - start..range.end - start;
        let bias = if self.bias.is_empty() { 0..0 } else { moved(&self.bias) };
        Self { range: moved(&self.range), bias, ..self.clone() }
    }
}

/// Matrices with the stretches of a vector of factors that belong to their rows and to their columns. In that vector,
/// one matrix comes after the other, rows before columns.
pub fn sides(matrices: &[Matrix]) -> impl Iterator<Item = (&Matrix, Range<usize>, Range<usize>)> {
    let mut start = 0;
    matrices.iter().map(move |matrix| {
        let rows = start..start + matrix.rows;
        start = rows.end + matrix.columns;
        (matrix, rows.clone(), rows.end..start)
    })
}

/// `w = w x_row y_column` in every matrix.
pub(crate) fn scale_sides<T: Real>(matrices: &[Matrix], weights: &mut [T], factors: &[T]) {
    for (matrix, x, y) in sides(matrices) {
        let (x, y) = (&factors[x], &factors[y]);
        let rows = weights[matrix.range.clone()].chunks_exact_mut(matrix.columns);
        for (row, x) in rows.zip(x.iter().cycle()) {
            row.iter_mut().zip(y).for_each(|(w, y)| *w = *w * *x * *y);
        }
    }
}

/// `x_row += a sum_column g w y_column` and `y_column += a sum_row g w x_row` in every matrix, over all places of a
/// kernel; summed in f64.
pub(crate) fn add_side_gradients<T: Real>(
    own: &mut [T],
    a: f64,
    matrices: &[Matrix],
    [gradient, weights, factors]: [&[T]; 3],
) {
    for (matrix, of_rows, of_columns) in sides(matrices) {
        let (x, y) = (&factors[of_rows.clone()], &factors[of_columns.clone()]);
        let (mut rows, mut columns) = (vec![0.0; x.len()], vec![0.0; y.len()]);
        let g = gradient[matrix.range.clone()].chunks_exact(matrix.columns);
        let w = weights[matrix.range.clone()].chunks_exact(matrix.columns);
        for (index, (g, w)) in g.zip(w).enumerate() {
            let row = index % matrix.rows;
            let x = x[row].wide();
            for (((g, w), y), column) in g.iter().zip(w).zip(y).zip(&mut columns) {
                let product = g.wide() * w.wide();
                rows[row] += product * y.wide();
                *column += product * x;
            }
        }
        let sums = rows.iter().chain(&columns);
        let own = own[of_rows.start..of_columns.end].iter_mut();
        own.zip(sums).for_each(|(own, sum)| *own = *own + T::of(a * sum));
    }
}
