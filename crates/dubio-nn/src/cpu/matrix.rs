//! Products of matrices: the one place that calls `gemm`, behind bounds that are checked.

use crate::real::Real;

/// A matrix inside a slice.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a, T> {
    data: &'a [T],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, T> Matrix<'a, T> {
    /// `rows x columns`, row after row, from the start of a slice that is at least that long.
    pub(super) fn new(data: &'a [T], rows: usize, columns: usize) -> Self {
        assert!(rows * columns <= data.len(), "a matrix beyond its slice");
        Self { data, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// Some columns of a matrix of `rows x columns`.
    pub(super) fn columns_of(
        data: &'a [T],
        rows: usize,
        columns: usize,
        range: std::ops::Range<usize>,
    ) -> Self {
        assert!(rows * columns <= data.len() && range.end <= columns, "a matrix beyond its slice");
        Self {
            data: &data[range.start..],
            rows,
            columns: range.len(),
            row_stride: columns,
            column_stride: 1,
        }
    }

    /// The transpose.
    pub(super) fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

/// What happens to the old content of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Store {
    /// It is overwritten.
    Replace,
    /// The product is added to it.
    Add,
}

/// `out = a b` or `out += a b`; `out` is stored row after row. One thread, so that the order of
/// the sums depends on nothing but the shapes.
pub(super) fn multiply<T: Real>(a: Matrix<'_, T>, b: Matrix<'_, T>, out: &mut [T], into: Store) {
    let (m, n, k) = (a.rows, b.columns, a.columns);
    assert!(b.rows == k && out.len() >= m * n, "shapes that do not fit");
    let (read, one) = (into == Store::Add, T::one());
    // SAFETY: the constructors and the assertion above keep every index inside its slice, `out`
    // is exclusive, and f32 and f64 are types that gemm knows.
    #[allow(unsafe_code)]
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            n as isize,
            read,
            a.data.as_ptr(),
            a.column_stride as isize,
            a.row_stride as isize,
            b.data.as_ptr(),
            b.column_stride as isize,
            b.row_stride as isize,
            if read { one } else { T::zero() },
            one,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_match_the_triple_loop_for_every_transposition() {
        let (m, n, k) = (5, 7, 3);
        let a: Vec<f64> = (0..m * k).map(|i| (i as f64 * 0.7).sin()).collect();
        let b: Vec<f64> = (0..k * n).map(|i| (i as f64 * 0.3).cos()).collect();
        let transpose = |x: &[f64], rows: usize, columns: usize| -> Vec<f64> {
            (0..columns)
                .flat_map(|c| (0..rows).map(move |r| (r, c)))
                .map(|(r, c)| x[r * columns + c])
                .collect()
        };
        let (at, bt) = (transpose(&a, m, k), transpose(&b, k, n));
        let direct = |i: usize, j: usize| (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum::<f64>();
        for (left, right) in [
            (Matrix::new(&a, m, k), Matrix::new(&b, k, n)),
            (Matrix::new(&at, k, m).transposed(), Matrix::new(&b, k, n)),
            (Matrix::new(&a, m, k), Matrix::new(&bt, n, k).transposed()),
        ] {
            let mut out = vec![1.0; m * n];
            multiply(left, right, &mut out, Store::Replace);
            multiply(left, right, &mut out, Store::Add);
            for i in 0..m {
                for j in 0..n {
                    assert!((out[i * n + j] - 2.0 * direct(i, j)).abs() < 1e-12);
                }
            }
        }
    }
}
