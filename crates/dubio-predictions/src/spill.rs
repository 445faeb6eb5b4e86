//! Numbers in a spill file: a temporary file for what is too large for memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use dubio_metrics::distributions::Spill;

use crate::error::Error;
use crate::guard::give_up;

/// A file without a name in the folder for temporary files (`TMPDIR`); it is gone when the process
/// is. It is read and written by calls and not mapped: a full disk then gives an error instead of a
/// signal, and what was read does not stay in this process's memory.
#[derive(Debug)]
pub struct SpillFile(File);

impl SpillFile {
    /// An empty one.
    pub fn new() -> io::Result<Self> {
        tempfile::tempfile().map(Self)
    }
}

fn offset(at: usize) -> u64 {
    (at * size_of::<f64>()) as u64
}

impl Spill for SpillFile {
    fn write(&self, at: usize, values: &[f64]) -> io::Result<()> {
        self.0.write_all_at(bytemuck::cast_slice(values), offset(at))
    }

    /// Gives up the work when the file cannot be read back: its disk has failed, since it was
    /// written whole.
    fn read(&self, at: usize, out: &mut [f64]) {
        if let Err(error) = self.0.read_exact_at(bytemuck::cast_slice_mut(out), offset(at)) {
            let what = format!("a spill file could not be read back: {error}");
            give_up(Error::file(&std::env::temp_dir(), what, "set TMPDIR to another disk"));
        }
    }
}
