//! The waist of the hourglass: predictions files, from any framework.
//!
//! [`open`] reads `.npz`, `.safetensors` or a folder of `.npy` and gives [`Predictions`] whose
//! shapes and dtypes have been checked; numbers and checksums are checked where they are read, rows at
//! a time. Nothing is allocated on the word of a header alone. A read that fails gives up the work that
//! [`guarded`] began.

mod array;
mod bytes;
mod checksum;
mod dtype;
mod error;
mod folder;
mod groups;
mod guard;
pub mod input;
mod npy;
mod npz;
mod predictions;
mod safetensors;
mod source;
#[cfg(unix)]
mod spill;
mod taker;
mod write;

pub use array::Array;
pub use dtype::{Dtype, Float, Integer};
pub use error::Error;
pub use groups::Groups;
pub use guard::guarded;
pub use predictions::{Classification, Predictions, Regression, RegressionKind};
pub use source::Source;
#[cfg(unix)]
pub use spill::SpillFile;
pub use write::{Floats, Output, write, write_whole};

use std::collections::BTreeMap;
use std::path::Path;

/// The arrays of a file.
#[derive(Clone, Debug, Default)]
pub struct Arrays {
    /// Those that were wanted, by name.
    pub read: BTreeMap<String, Array>,
    /// Names of the others, which were not looked into: they may hold anything.
    pub unread: Vec<String>,
}

impl Arrays {
    /// Notes an array: `read` is asked for it only when its name is wanted.
    pub(crate) fn note(
        &mut self,
        name: &str,
        wanted: &dyn Fn(&str) -> bool,
        read: impl FnOnce() -> Result<Array, Error>,
    ) -> Result<(), Error> {
        if wanted(name) {
            self.read.insert(name.to_string(), read()?);
        } else {
            self.unread.push(name.to_string());
        }
        Ok(())
    }
}

/// Reads the wanted arrays of a file without looking at what they mean.
pub fn read_arrays(path: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Arrays, Error> {
    let metadata = std::fs::metadata(path).map_err(|e| Error::io(path, &e))?;
    if metadata.is_dir() {
        return folder::read(path, wanted);
    }
    match path.extension().and_then(|e| e.to_str()) {
        Some("npz") => npz::read(path, wanted),
        Some("safetensors") => safetensors::read(path, wanted),
        Some("npy") => Err(Error::file(
            path,
            "a single .npy holds only one array",
            "put logits.npy and labels.npy into a folder and name the folder",
        )),
        _ => Err(Error::file(
            path,
            "not a predictions file by its name",
            "dubio reads .npz, .safetensors, and folders of .npy",
        )),
    }
}

/// Opens a predictions file.
pub fn open(path: &Path) -> Result<Predictions, Error> {
    Predictions::new(path, read_arrays(path, &predictions::means_something)?)
}
