//! Predictions as they are read: rows of one array of a file.

use std::ops::Range;
use std::path::PathBuf;

use dubio_metrics::members::Members;

use crate::array::Array;
use crate::error::{Error, Fault};
use crate::guard::give_up;

/// An array of a file, read a block of rows at a time.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name of the array.
    pub name: String,
    pub(crate) path: PathBuf,
    pub(crate) array: Array,
}

impl Source {
    /// Reads what nobody has read, so that damage anywhere in the array is seen: for those who look
    /// at some members only.
    pub fn read_rest(&self) -> Result<(), Error> {
        self.array.read_rest().map_err(|e| Fault::unread(&e).at(&self.path, &self.name))
    }
}

impl Members for Source {
    fn members(&self) -> usize {
        self.array.shape()[0]
    }
    fn examples(&self) -> usize {
        self.array.shape()[1]
    }
    fn width(&self) -> usize {
        self.array.shape()[2]
    }
    /// Gives up the work that [`crate::guarded`] began when the file fails.
    fn read(&self, member: usize, rows: Range<usize>, out: &mut [f64]) {
        if let Err(error) = self.array.read_rows(member, rows, out) {
            give_up(Fault::unread(&error).at(&self.path, &self.name));
        }
    }
}
