//! Where results are to go. What is wrong with a place is reported before the work, not after it.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::error::refuse;

/// Refuses a place that no file can be written to.
pub fn check(path: &Path) -> Result<(), Error> {
    let shown = path.display();
    if path.is_dir() {
        refuse!("{shown} is a folder; name a file in it");
    }
    let folder = folder(path);
    if !folder.is_dir() {
        refuse!("{shown}: there is no folder {}; create it first", folder.display());
    }
    Ok(())
}

/// Refuses to write over what is read, or to one place twice.
pub fn keep<'a>(
    inputs: impl IntoIterator<Item = &'a PathBuf>,
    outputs: &[&Path],
) -> Result<(), Error> {
    for input in inputs {
        if let Some(output) = outputs.iter().find(|output| same(input, output)) {
            refuse!(
                "{} is an input and would be overwritten; choose another output",
                output.display()
            );
        }
    }
    for (index, output) in outputs.iter().enumerate() {
        if outputs[..index].iter().any(|other| same(other, output)) {
            refuse!("{} would be written twice; choose another output", output.display());
        }
    }
    Ok(())
}

/// Whether two paths lead to one place, whatever links and dots are on the way.
fn same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (a.metadata(), b.metadata()) {
        use std::os::unix::fs::MetadataExt;
        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    resolved(a).is_some_and(|a| Some(a) == resolved(b))
}

/// The path of what is there, or of what will be; `None` where there is no folder for it.
fn resolved(path: &Path) -> Option<PathBuf> {
    path.canonicalize()
        .ok()
        .or_else(|| Some(folder(path).canonicalize().ok()?.join(path.file_name()?)))
}

/// The folder that a path lies in.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
