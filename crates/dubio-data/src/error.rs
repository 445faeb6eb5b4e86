//! What can be wrong with data, said so that it can be fixed.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

/// Mistakes that are shown at once; nobody reads more.
const SHOWN: usize = 20;

/// Data that cannot be used: which file, what is wrong and where in it, what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {what}{}", path.display(),
    if advice.is_empty() { String::new() } else { format!("\n  {advice}") })]
pub struct Error {
    /// The file; for what is not yet a file, the name or the address asked for.
    pub path: PathBuf,
    /// What is wrong, with the first bad place.
    pub what: String,
    /// What to do about it; may be empty.
    pub advice: String,
}

impl Error {
    /// Something wrong with a file, a name or an address.
    pub fn new(path: impl AsRef<Path>, what: impl Display, advice: impl Display) -> Self {
        let path = path.as_ref().to_path_buf();
        Self { path, what: what.to_string(), advice: advice.to_string() }
    }

    /// Several mistakes in one file, each with what to do about it. One alone is itself.
    pub(crate) fn together(path: &Path, mut all: Vec<Self>) -> Self {
        if all.len() == 1 {
            return all.remove(0);
        }
        let line = |error: &Self| match error.advice.is_empty() {
            true => error.what.clone(),
            false => format!("{}; {}", error.what, error.advice),
        };
        let lines: Vec<String> = all.iter().map(line).collect();
        Self::new(path, format!("{} mistakes{}", all.len(), below(&lines)), "")
    }

    /// The same in one line.
    pub fn in_one_line(&self) -> String {
        let advice = if self.advice.is_empty() { "" } else { "; " };
        format!("{}: {}{advice}{}", self.path.display(), self.what, self.advice)
    }

    /// An error of the reader of arrays and tables.
    fn of_array(error: &dubio_predictions::Error) -> String {
        match &error.array {
            Some(array) => format!("array `{array}`: {}", error.what),
            None => error.what.clone(),
        }
    }

    /// What the system said when it was asked for a file.
    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        let advice = match error.kind() {
            io::ErrorKind::NotFound => {
                "set DUBIO_DATA to the folder that holds it; `dubio data list` shows which data sets \
                 are here"
            }
            io::ErrorKind::PermissionDenied => "check its permissions",
            io::ErrorKind::StorageFull => "free some space, or set DUBIO_DATA to another disk",
            _ => "",
        };
        Self::new(path, error, advice)
    }
}

/// The first of some lines, each below the one before, and how many more there are.
pub(crate) fn below(lines: &[String]) -> String {
    let mut text: String = lines.iter().take(SHOWN).map(|line| format!("\n  {line}")).collect();
    if lines.len() > SHOWN {
        text += &format!("\n  and {} more", lines.len() - SHOWN);
    }
    text
}

impl From<dubio_predictions::Error> for Error {
    fn from(error: dubio_predictions::Error) -> Self {
        Self { what: Self::of_array(&error), path: error.path, advice: error.advice }
    }
}
