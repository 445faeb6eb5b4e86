//! Arrays in memory that others own.

use std::path::Path;
use std::sync::Arc;

use crate::array::{Array, Order};
use crate::bytes::{Bytes, Memory};
use crate::error::{Error, Fault};
use crate::npy;

impl Array {
    /// An array in memory that others own, with its type as NumPy writes it (`<f4`). Messages call it by
    /// `name`.
    pub fn borrowed(
        name: &str,
        bytes: Arc<dyn Memory>,
        dtype: &str,
        shape: &[usize],
        order: Order,
    ) -> Result<Self, Error> {
        let at = |fault: Fault| fault.at(Path::new("in memory"), name);
        let dtype = npy::dtype(dtype).map_err(at)?;
        let shape: Vec<u64> = shape.iter().map(|&axis| axis as u64).collect();
        Self::new(Bytes::shared(bytes), dtype, &shape, order).map_err(at)
    }

    /// A view of memory that others own. `strides` are in elements, for each axis, and may be negative.
    /// The bytes reach from the view's lowest element to its highest; no axis is empty.
    pub fn view(
        name: &str,
        bytes: Arc<dyn Memory>,
        dtype: &str,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Self, Error> {
        let at = |fault: Fault| fault.at(Path::new("in memory"), name);
        let dtype = npy::dtype(dtype).map_err(at)?;
        Self::viewed(Bytes::shared(bytes), dtype, shape, strides).map_err(at)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    /// Some of the numbers 0 to 23.
    fn view(numbers: Range<i32>, shape: &[usize], strides: &[isize]) -> Result<Array, Error> {
        let bytes: Vec<u8> = numbers.flat_map(|i| f64::from(i).to_le_bytes()).collect();
        Array::view("probs", Arc::new(bytes), "<f8", shape, strides)
    }

    #[test]
    fn views_have_the_elements_that_numpy_says() {
        // a = numpy.arange(24.0).reshape(2, 3, 4); then what each line names, flattened
        for (numbers, shape, strides, expected) in [
            // a[:, ::2, 1:3]
            (1..23, vec![2, 2, 2], vec![12, 8, 1], vec![1, 2, 9, 10, 13, 14, 21, 22]),
            // a[1, ::-1, 3]
            (15..24, vec![3], vec![-4], vec![23, 19, 15]),
            // a[:, :1].transpose(2, 1, 0)
            (0..16, vec![4, 1, 2], vec![1, 4, 12], vec![0, 12, 1, 13, 2, 14, 3, 15]),
            // numpy.broadcast_to(a[0, 0, :2], (2, 2))
            (0..2, vec![2, 2], vec![0, 1], vec![0, 1, 0, 1]),
        ] {
            let array = view(numbers, &shape, &strides).expect("a view");
            let expected: Vec<f64> = expected.into_iter().map(f64::from).collect();
            assert_eq!(array.to_f64().expect("read"), expected, "{shape:?}");
        }
    }

    #[test]
    fn rows_of_a_view_are_those_of_its_copy() {
        let array = view(1..23, &[2, 2, 2], &[12, 8, 1]).expect("a view");
        let mut out = [0.0; 2];
        array.read_rows(1, 1..2, &mut out).expect("read");
        assert_eq!(out, [21.0, 22.0]);
        // a.reshape(6, 4)[::4, :2][:, ::-1]
        let array = view(0..18, &[2, 2], &[16, -1]).expect("a view").with_leading_axis();
        array.read_rows(0, 1..2, &mut out).expect("read");
        assert_eq!(out, [17.0, 16.0]);
    }

    #[test]
    fn a_view_that_reaches_beyond_its_bytes_is_refused() {
        for (shape, strides) in [
            (vec![2, 2], vec![4, 4]),
            (vec![2], vec![4, 1]),
            (vec![usize::MAX], vec![isize::MAX]),
            (vec![0, 2], vec![1, 1]),
        ] {
            let error = view(0..7, &shape, &strides).expect_err("too far");
            assert!(error.to_string().contains("probs"), "{error}");
        }
    }
}
