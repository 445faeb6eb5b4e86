//! The independent runs of a method: which predictions files a path stands for.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::error::refuse;

/// A predictions file is one run; in a folder, every file is.
pub(super) fn runs(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let failed = || format!("cannot read {}", path.display());
    let listed = std::fs::read_dir(path).map_err(Error::file(failed()))?;
    let mut inside: Vec<PathBuf> =
        listed.map(|entry| Ok(entry?.path())).collect::<Result<_, Error>>()?;
    let kind = |file: &Path| file.extension().and_then(|e| e.to_str()).map(str::to_string);
    if inside.iter().any(|file| kind(file).as_deref() == Some("npy")) {
        return Ok(vec![path.to_path_buf()]);
    }
    inside.retain(|file| {
        file.is_dir() || matches!(kind(file).as_deref(), Some("npz" | "safetensors"))
    });
    inside.sort();
    if inside.is_empty() {
        refuse!("{}: there is no predictions file in this folder", path.display());
    }
    Ok(inside)
}
