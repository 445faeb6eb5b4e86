//! Where results are to go. What is wrong with a place is told before the work, not after it.

use std::path::Path;

use anyhow::{Result, bail};

/// Refuses a place that no file can be written to.
pub(crate) fn check(path: &Path) -> Result<()> {
    let shown = path.display();
    if path.is_dir() {
        bail!("{shown} is a folder; name a file in it");
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            bail!("{shown}: there is no folder {}; make it first", folder.display())
        }
        _ => Ok(()),
    }
}
