//! Whether the files of a set are there, and are what they should be.

use std::io::{self, BufReader, Read};
use std::path::Path;

use dubio_predictions::input;
use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::sets::{File, Measured, Set, Size};

/// The result of checking one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Size and checksum are right.
    Good,
    /// The size is right, and no checksum is known.
    Unproven,
    /// It is not there.
    Missing,
    /// The size is wrong.
    Size {
        /// Bytes found.
        found: u64,
        /// Bytes expected, or at most allowed.
        expected: u64,
    },
    /// The checksum is wrong.
    Altered {
        /// SHA-256 found.
        found: String,
    },
    /// It cannot be read or unpacked; why.
    Unreadable(String),
}

impl Status {
    /// Whether the file can be used.
    pub fn is_good(&self) -> bool {
        matches!(self, Self::Good | Self::Unproven)
    }
}

/// Checks every file of a set.
pub fn check(set: &Set, root: &Path) -> Vec<(File, Status)> {
    let files = set.files().into_iter();
    files.map(|file| (file.clone(), status(&file, &root.join(&*file.path)))).collect()
}

/// Checks one file, which lies at `path`.
pub fn status(file: &File, path: &Path) -> Status {
    let measure = match measure(path, file.measured, file.size) {
        Ok(measure) => measure,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Status::Missing,
        Err(error) => return Status::Unreadable(error.to_string()),
    };
    let (found, most) = (measure.size, file.size.most());
    match &file.sha256 {
        _ if file.size.known().unwrap_or(found.min(most)) != found => {
            Status::Size { found, expected: most }
        }
        Some(sum) if *sum != measure.sha256 => Status::Altered { found: measure.sha256 },
        Some(_) => Status::Good,
        None => Status::Unproven,
    }
}

struct Measure {
    size: u64,
    sha256: String,
}

/// Length and checksum of a file. Unpacking stops one byte beyond the largest size allowed.
fn measure(path: &Path, measured: Measured, size: Size) -> io::Result<Measure> {
    let file = BufReader::with_capacity(1 << 16, input::open(path)?);
    let (size, sha256) = match measured {
        Measured::AsIs => sha256(file)?,
        Measured::Unpacked => sha256(MultiGzDecoder::new(file).take(size.most() + 1))?,
    };
    Ok(Measure { size, sha256 })
}

/// Length and SHA-256 of what a reader gives.
fn sha256(mut reader: impl Read) -> io::Result<(u64, String)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut size = 0;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                hasher.update(&buffer[..read]);
                size += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let hex = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((size, hex))
}

/// Checks that a file just written is what it should be; the error says what is wrong with it.
pub(crate) fn verify(file: &File, path: &Path, origin: &str) -> Result<(), Error> {
    let advice = "it was removed; fetch it again; if that does not help, the published file has changed, or a proxy rewrites it";
    let what = match status(file, path) {
        Status::Good | Status::Unproven => return Ok(()),
        Status::Missing => "nothing was written".to_string(),
        Status::Size { found, expected } => format!("{found} bytes arrived, not {expected}"),
        Status::Altered { found } => {
            let expected = file.sha256.as_deref().unwrap_or_default();
            format!("not the published file: SHA-256 {found}, not {expected}")
        }
        Status::Unreadable(why) => format!("cannot be read back: {why}"),
    };
    Err(Error::new(origin, what, advice))
}
