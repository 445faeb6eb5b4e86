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

/// How many bytes an earlier attempt has left; none where something else than a file is in its place.
pub(super) fn part_length(part: &Path) -> u64 {
    match fs::symlink_metadata(part) {
        Ok(metadata) if metadata.is_file() => metadata.len(),
        _ => 0,
    }
}

/// Opens a part to write on from a place that it reaches to. At 0 it is made anew, so that a link
/// which lies there is replaced and never followed.
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

/// How the bytes of an answer ended, and how many there are with those of before.
pub(super) enum Copied {
    All(u64),
    Broken(u64, io::Error),
    TooMuch,
}

/// Writes what arrives behind the first `start` bytes of a file, `most` of them in all.
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
