//! Files of a folder that may come from elsewhere: read, written and removed, but never through a link.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use dubio_predictions::write_whole;
use serde::Serialize;

use crate::run_id::RunId;

pub(crate) fn write_pretty(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    write_whole(path, |file| file.write_all(&bytes).and_then(|()| file.sync_data()))
}

/// The bytes of a file; a pipe or a device, which may have no end, is refused.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    match path.metadata()?.is_file() {
        true => fs::read(path),
        false => Err(in_the_way(path)),
    }
}

/// The ids in a folder, in order: of the entries whose name is an id with this ending.
pub(super) fn ids(folder: &Path, ending: &str) -> io::Result<Vec<RunId>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let id = |name: String| RunId::try_from(name.strip_suffix(ending)?.to_string()).ok();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut ids: Vec<RunId> = names.filter_map(id).collect();
    ids.sort();
    Ok(ids)
}

/// Removes a file, a folder with all that is in it, or a symbolic link, but not where it leads.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let result = match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Checks that neither a path nor anything below it is a symbolic link.
pub(super) fn no_links(path: &Path) -> io::Result<()> {
    let there = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        there => there?,
    };
    if there.is_symlink() {
        return Err(in_the_way(path));
    }
    match there.is_dir() {
        true => fs::read_dir(path)?.try_for_each(|entry| no_links(&entry?.path())),
        false => Ok(()),
    }
}

pub(super) fn in_the_way(path: &Path) -> io::Error {
    let what = "is a link or not a regular file; remove it";
    io::Error::other(format!("{}: {what}", path.display()))
}
