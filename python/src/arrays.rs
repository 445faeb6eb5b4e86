//! Arrays that Python owns, read where they lie.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::Arc;

use dubio_predictions::{Array, Error, Layout};
use pyo3::prelude::*;

/// An array by NumPy's array interface, whoever owns its memory: contiguous in C or Fortran order, or a view with
/// strides.
#[derive(FromPyObject)]
pub(crate) struct ArrayIn {
    name: String,
    address: usize,
    length: usize,
    dtype: String,
    shape: Vec<usize>,
    fortran: bool,
    strides: Option<Vec<isize>>,
    owner: Py<PyAny>,
}

/// Memory of a Python object, which it keeps alive.
struct Borrowed {
    address: *const u8,
    length: usize,
    _owner: Py<PyAny>,
}

// SAFETY: the memory is only read, and lives as long as its owner, which is kept. Python code that writes to
// the array meanwhile races with us as it would with any NumPy function that releases the GIL.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

impl AsRef<[u8]> for Borrowed {
    fn as_ref(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: `__array_interface__` promises `length` readable bytes at `address` as long as the owner
        // lives; an empty array, whose address may be anything, was dealt with above.
        unsafe { std::slice::from_raw_parts(self.address, self.length) }
    }
}

/// Arrays by name, without a copy.
pub(crate) fn arrays(all: Vec<ArrayIn>) -> Result<BTreeMap<String, Array>, Error> {
    let one = |array: ArrayIn| {
        let ArrayIn { name, address, length, dtype, shape, fortran, strides, owner } = array;
        let bytes = Borrowed { address: address as *const u8, length, _owner: owner };
        let layout = if fortran { Layout::Fortran } else { Layout::C };
        let bytes = Arc::new(bytes);
        let made = match strides {
            Some(strides) => Array::view(&name, bytes, &dtype, &shape, &strides)?,
            None => Array::borrowed(&name, bytes, &dtype, &shape, layout)?,
        };
        Ok((name, made))
    };
    all.into_iter().map(one).collect()
}
