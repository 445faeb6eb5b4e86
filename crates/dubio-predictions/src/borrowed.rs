//! Arrays in memory that is somebody else's.

use std::path::Path;
use std::sync::Arc;

use crate::array::{Array, Order};
use crate::bytes::{Bytes, Memory};
use crate::error::{Error, Fault};
use crate::npy;

impl Array {
    /// An array in memory that is somebody else's, by the type that NumPy writes for it (`<f4`); it is named
    /// in messages.
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
}
