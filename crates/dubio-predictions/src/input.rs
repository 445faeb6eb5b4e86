//! Files that a user names: opened only where they are files.
//!
//! A pipe, a terminal or another device may give nothing for ever, or never end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The longest text that a person writes: suites, tables.
const LONGEST_TEXT: u64 = 1 << 26;

/// Opens a regular file; anything else is an error before it is opened.
pub fn open(path: &Path) -> io::Result<File> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file"));
    }
    if !metadata.is_file() {
        let what = "it is a pipe or a device, not a file; copy what it gives to a file first";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    File::open(path)
}

/// Reads a regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a text of at most 64 MiB.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = open(path)?.take(LONGEST_TEXT + 1).read_to_string(&mut text)? as u64;
    if read > LONGEST_TEXT {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is longer than 64 MiB"));
    }
    Ok(text)
}
