//! Symmetric matrices by their eigenvectors.

use faer::{Mat, MatRef, Side};

use crate::error::Error;

/// A symmetric matrix without negative eigenvalues, `U diag(values) U'`.
pub(crate) struct Eigen {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Mat<f64>,
}

impl Eigen {
    pub(crate) fn of(matrix: MatRef<'_, f64>) -> Result<Self, Error> {
        let eigen = matrix.self_adjoint_eigen(Side::Lower).map_err(|_| {
            Error::Chain("the curvature is not finite; is the loss a number?".to_string())
        })?;
        // Rounding may leave some values below 0.
        let values = eigen.S().column_vector().iter().map(|value| value.max(0.0)).collect();
        Ok(Self { values, vectors: eigen.U().to_owned() })
    }

    pub(crate) fn numbers(&self) -> Vec<f64> {
        let columns =
            self.vectors.col_iter().flat_map(|column| column.iter().copied().collect::<Vec<_>>());
        self.values.iter().copied().chain(columns).collect()
    }

    /// Reads back what [`Self::numbers`] gave for a matrix of this side, from the front of `numbers`.
    pub(crate) fn read(side: usize, numbers: &mut &[f64]) -> Self {
        let (values, rest) = numbers.split_at(side);
        let (vectors, rest) = rest.split_at(side * side);
        *numbers = rest;
        let vectors = MatRef::from_column_major_slice(vectors, side, side).to_owned();
        Self { values: values.to_vec(), vectors }
    }
}
