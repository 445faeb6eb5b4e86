//! Lock files.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a lock file, creating it if it is missing. A symbolic link is not followed, a pipe is not waited for, and the
/// content of the file is kept.
pub fn open(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(there) if !there.is_file() => {
            let what = format!("{} is a link or not a regular file; remove it", path.display());
            Err(io::Error::other(what))
        }
        _ => OpenOptions::new().write(true).create(true).truncate(false).open(path),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_not_followed_and_nothing_is_cut_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "kept").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        assert!(open(&link).is_err());
        open(&file).expect("a file of ours");
        assert_eq!(fs::read(&file).expect("there"), b"kept");
        std::os::unix::fs::symlink(folder.path().join("new"), folder.path().join("dangling"))
            .expect("linked");
        assert!(open(&folder.path().join("dangling")).is_err());
        assert!(!folder.path().join("new").exists());
    }
}
