//! Errors in files, reported so that they can be fixed.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

/// A file that cannot be used: which file, which array, what is wrong and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {what}{}", path.display(), array.as_ref().map(|a| format!(", array `{a}`")).unwrap_or_default(),
    if advice.is_empty() { String::new() } else { format!("\n  {advice}") })]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// The array, if it is one array's fault.
    pub array: Option<String>,
    /// What is wrong, with the first bad place.
    pub what: String,
    /// What to do about it; may be empty.
    pub advice: String,
}

impl Error {
    /// Something wrong with a whole file.
    pub fn file(path: &Path, what: impl Display, advice: impl Display) -> Self {
        Self {
            path: path.to_path_buf(),
            array: None,
            what: what.to_string(),
            advice: advice.to_string(),
        }
    }

    /// Something wrong with one array.
    pub fn array(path: &Path, array: &str, what: impl Display, advice: impl Display) -> Self {
        Self { array: Some(array.to_string()), ..Self::file(path, what, advice) }
    }

    /// The error that a file has no array of this name, with the names that it has.
    pub(crate) fn missing(path: &Path, name: &str, there: &[String]) -> Self {
        let what = format!("there is no array `{name}`");
        Self::file(path, what, format!("the file has: {}", there.join(", ")))
    }

    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        let advice = match error.kind() {
            io::ErrorKind::NotFound => "check the name; paths are relative to the current folder",
            io::ErrorKind::PermissionDenied => "check its permissions",
            _ => "",
        };
        Self::file(path, error, advice)
    }
}

/// What is wrong with an array and what to do, before the file's name is known.
#[derive(Debug)]
pub(crate) struct Fault {
    pub what: String,
    pub advice: String,
}

impl Fault {
    pub(crate) fn new(what: impl Display, advice: impl Display) -> Self {
        Self { what: what.to_string(), advice: advice.to_string() }
    }

    /// What stopped the reading of an array that was found in its file.
    pub(crate) fn unread(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                Self::new("the file was cut short while it was read", "write it again")
            }
            io::ErrorKind::InvalidData => {
                Self::new(format!("unreadable: {error}"), "the file is damaged: write it again")
            }
            _ => Self::new(format!("unreadable: {error}"), ""),
        }
    }

    pub(crate) fn at(self, path: &Path, array: &str) -> Error {
        Error::array(path, array, self.what, self.advice)
    }
}
