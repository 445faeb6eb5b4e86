//! Getting the files of a set: whole or not at all.
//!
//! A file is written beside its name as `NAME.part`, compared with its checksum, and renamed.
//! An interrupted download resumes where it stopped. Nothing is ever fetched unless asked for.

mod download;
mod part;
#[cfg(test)]
mod redirects;
mod unpack;

pub use download::{Downloader, Progress};

use std::fs;
use std::path::Path;

use crate::check::status;
use crate::error::Error;
use crate::sets::{Archive, File, Measured, Origin, Set};

/// Fetches the files of a set that are not there yet or are not as they should be. Returns how
/// many were fetched.
pub fn fetch(
    downloader: &Downloader,
    set: &Set,
    root: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<usize, Error> {
    fetch_files(downloader, set.files(), root, progress)
}

/// The same for any files.
pub fn fetch_files(
    downloader: &Downloader,
    files: Vec<File>,
    root: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<usize, Error> {
    let wanted: Vec<File> =
        files.into_iter().filter(|file| !status(file, &root.join(&*file.path)).is_good()).collect();
    // Files that cannot be fetched are reported before anything large is fetched.
    for file in &wanted {
        if let Origin::ByHand(how) = file.origin {
            return Err(Error::new(root.join(&*file.path), "cannot be fetched", how));
        }
    }
    let mut archives: Vec<&'static Archive> = Vec::new();
    for file in &wanted {
        match &file.origin {
            Origin::Address(url) => {
                downloader.download(url, &root.join(&*file.path), file, progress)?;
            }
            Origin::Member(archive, _) if !archives.contains(archive) => archives.push(archive),
            Origin::Member(..) | Origin::ByHand(_) => {}
        }
    }
    for archive in archives {
        from_archive(downloader, archive, &wanted, root, progress)?;
    }
    Ok(wanted.len())
}

fn from_archive(
    downloader: &Downloader,
    archive: &'static Archive,
    wanted: &[File],
    root: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), Error> {
    let name = archive.url.rsplit('/').next().unwrap_or(archive.url);
    let path = root.join(name);
    let whole = File {
        path: name.into(),
        measured: Measured::AsIs,
        size: archive.size,
        sha256: archive.sha256.map(Into::into),
        origin: Origin::Address(archive.url.into()),
    };
    downloader.download(archive.url, &path, &whole, progress)?;
    unpack::members(&path, archive, wanted, root)?;
    fs::remove_file(&path).map_err(|error| Error::io(&path, &error))
}
