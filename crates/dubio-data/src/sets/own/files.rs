//! The files of a user's data set: of which kind they are, whether they have changed, their checksum.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::formats::open;

/// What a path holds.
pub(super) enum Kind {
    Table,
    Images,
    Arrays,
}

pub(super) fn kind(path: &Path) -> Result<Kind, Error> {
    let end = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    if path.is_dir() {
        let arrays = all(path)?.iter().any(|file| file.extension().is_some_and(|e| e == "npy"));
        return Ok(if arrays { Kind::Arrays } else { Kind::Images });
    }
    dubio_predictions::check_name(path)?;
    Ok(if ["npz", "safetensors"].contains(&&end[..]) { Kind::Arrays } else { Kind::Table })
}

/// Length and modification time of every file, which tell whether one has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint(Vec<(PathBuf, u64, Option<SystemTime>)>);

impl Fingerprint {
    pub(super) fn of(path: &Path) -> Result<Self, Error> {
        let one = |file: PathBuf| {
            let metadata = std::fs::metadata(&file).map_err(|e| missing(&file, &e))?;
            Ok((file, metadata.len(), metadata.modified().ok()))
        };
        Ok(Self(all(path)?.into_iter().map(one).collect::<Result<_, Error>>()?))
    }
}

/// Every file below a folder except hidden ones, in order; for a file, the file itself.
fn all(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = std::fs::read_dir(path).map_err(|e| missing(path, &e))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let hidden =
        |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
    paths.retain(|path| !hidden(path));
    let below: Result<Vec<Vec<PathBuf>>, Error> = paths.iter().map(|path| all(path)).collect();
    Ok(below?.concat())
}

/// SHA-256 of a file; of a folder, of its files' names, lengths and bytes in order. For a list of images,
/// `listed` are their pixels, which count too.
pub(super) fn sha256(path: &Path, listed: &[u8]) -> Result<String, Error> {
    let mut hash = Sha256::new();
    for file in all(path)? {
        let bytes = open(&file)?;
        if let Ok(inside) = file.strip_prefix(path)
            && !inside.as_os_str().is_empty()
        {
            hash.update(inside.to_string_lossy().as_bytes());
            hash.update((bytes.len() as u64).to_le_bytes());
        }
        hash.update(&bytes);
    }
    hash.update(listed);
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn missing(path: &Path, error: &std::io::Error) -> Error {
    let advice = match error.kind() {
        std::io::ErrorKind::NotFound => {
            "check the path; `dubio data list` shows the data sets that are known by name"
        }
        _ => "",
    };
    Error::new(path, error, advice)
}
