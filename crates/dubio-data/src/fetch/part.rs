//! A file while it is being written: `NAME.part` beside its name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// The name of a file while it is being written.
pub(super) fn part_of(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// How many bytes an earlier attempt has left; 0 where there is no regular file in its place.
pub(super) fn part_length(part: &Path) -> u64 {
    match fs::symlink_metadata(part) {
        Ok(metadata) if metadata.is_file() => metadata.len(),
        _ => 0,
    }
}

/// Opens a part to continue writing at byte `from`, which it must reach. At 0 it is created anew, so
/// that a link in its place is replaced and never followed.
pub(super) fn write_part(part: &Path, from: u64) -> io::Result<File> {
    if from > 0 {
        let file = OpenOptions::new().append(true).open(part)?;
        file.set_len(from)?;
        return Ok(file);
    }
    match fs::remove_file(part) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => OpenOptions::new().write(true).create_new(true).open(part),
    }
}

/// How the bytes of a response ended, and how many the file has with those of earlier attempts.
pub(super) enum Copied {
    All(u64),
    Broken(u64, io::Error),
    TooMuch,
}

/// Writes what arrives after the first `start` bytes of a file, up to `most` bytes in all.
pub(super) fn copy(
    from: &mut impl Read,
    part: &Path,
    start: u64,
    most: u64,
    told: &mut dyn FnMut(u64),
) -> io::Result<Copied> {
    let mut out = write_part(part, start)?;
    let mut done = start;
    let mut buffer = vec![0; 1 << 16];
    loop {
        told(done);
        match from.read(&mut buffer) {
            Ok(0) => return Ok(Copied::All(done)),
            Ok(read) => {
                out.write_all(&buffer[..read])?;
                done += read as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Ok(Copied::Broken(done, error)),
        }
        if done > most {
            return Ok(Copied::TooMuch);
        }
    }
}
