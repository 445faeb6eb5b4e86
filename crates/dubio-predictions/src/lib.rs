//! Predictions files, from any framework.
//!
//! [`open`] reads `.npz`, `.safetensors`, `.csv`, `.tsv`, `.parquet` or a folder of `.npy` and gives
//! [`Predictions`] whose shapes and dtypes have been checked; numbers and checksums are checked where
//! they are read, some rows at a time. No header alone decides how much is allocated. A read that
//! fails gives up the work that [`guarded`] began.
//!
//! ```
//! use dubio_predictions::{Floats, Output, Predictions, open, write};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("preds.npz");
//! let probs = Floats { name: "probs", values: &[0.9, 0.1, 0.4, 0.6], shape: vec![2, 2] };
//! write(&path, &Output { floats: vec![probs], integers: vec![("labels".into(), vec![0, 1])] })?;
//! let Predictions::Classification(file) = open(&path)? else { unreachable!() };
//! assert_eq!(file.labels, Some(vec![0, 1]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod array;
mod borrowed;
mod bytes;
mod checksum;
mod csv;
mod dtype;
mod error;
mod folder;
mod format;
mod groups;
mod guard;
pub mod input;
mod labels;
pub mod lines;
pub mod memory;
mod names;
mod note;
mod npy;
mod npz;
mod parquet;
mod predictions;
mod read_table;
mod regression;
mod safetensors;
mod shapes;
mod source;
#[cfg(unix)]
mod spill;
mod stdin;
mod table;
mod taker;
mod text_table;
mod view;
mod write;

pub use array::{Array, Order as Layout};
pub use bytes::Memory;
pub use dtype::{Dtype, Float, Integer};
pub use error::Error;
pub use groups::Groups;
pub use guard::guarded;
pub use note::Note;
pub use predictions::{Classification, Predictions};
pub use read_table::{check_name, read_text_table};
pub use regression::{Regression, RegressionKind};
pub use source::Source;
#[cfg(unix)]
pub use spill::SpillFile;
pub use text_table::TextTable;
pub use write::{Floats, Output, write, write_whole};

use std::collections::BTreeMap;
use std::path::Path;

use crate::bytes::Bytes;
use crate::format::Format;

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

/// Reads the wanted arrays of an `.npz`, a `.safetensors` or a folder of `.npy` without looking at what they mean;
/// of a table, the columns that are predictions.
pub fn read_arrays(path: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Arrays, Error> {
    if let Some(held) = memory::read(path, wanted) {
        return Ok(held);
    }
    let metadata = std::fs::metadata(path).map_err(|e| Error::io(path, &e))?;
    if metadata.is_dir() {
        return folder::read(path, wanted);
    }
    let format = Format::by_name(path)?;
    let bytes = Bytes::open(path).map_err(|e| Error::io(path, &e))?;
    arrays(path, &bytes, format, wanted)
}

fn arrays(
    path: &Path,
    bytes: &Bytes,
    format: Format,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Arrays, Error> {
    match format {
        Format::Npz => npz::read(path, bytes, wanted),
        Format::Safetensors => safetensors::read(path, bytes, wanted),
        Format::Text(separator) => csv::read(path, bytes, separator),
        Format::Parquet => parquet::read(path, bytes),
    }
}

/// Opens a predictions file, or standard input where the path is `-`. The ends of an interval,
/// `lower` and `upper`, are those of the central 95 %.
pub fn open(path: &Path) -> Result<Predictions, Error> {
    open_with_level(path, 0.95)
}

/// Opens a predictions file whose `lower` and `upper`, where it has them, are the ends of a central
/// interval of this mass.
pub fn open_with_level(path: &Path, level: f64) -> Result<Predictions, Error> {
    let wanted = &names::means_something;
    let arrays = if path == Path::new("-") {
        let (path, bytes) = (Path::new(stdin::NAME), stdin::read()?);
        let format = Format::by_content(&bytes).map_err(|e| Error::io(path, &e))?;
        return Predictions::new(path, arrays(path, &bytes, format, wanted)?, level);
    } else {
        read_arrays(path, wanted)?
    };
    Predictions::new(path, arrays, level)
}
