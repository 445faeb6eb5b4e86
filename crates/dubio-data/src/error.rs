//! Errors in data, reported so that they can be fixed.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

/// Most mistakes that are shown at once; nobody reads more.
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

    /// Several mistakes in one file, each with what to do about it. A single one is returned as it is.
    pub(crate) fn together(path: &Path, mut all: Vec<Self>) -> Self {
        if all.len() == 1 {
            return all.remove(0);
        }
        let lines: Vec<String> = all.iter().map(Self::with_advice).collect();
        Self::new(path, format!("{} mistakes{}", all.len(), below(&lines)), "")
    }

    /// The error in one line, as an entry of a list. If it is a list itself, its lines follow, indented.
    pub fn in_one_line(&self) -> String {
        format!("{}: {}", self.path.display(), self.with_advice())
    }

    /// What is wrong and what to do, without the path.
    fn with_advice(&self) -> String {
        let what = self.what.replace('\n', "\n  ");
        match &self.advice[..] {
            "" => what,
            advice if self.what.contains('\n') => format!("{what}\n    {advice}"),
            advice if self.what.ends_with('?') => format!("{what} {advice}"),
            advice => format!("{what}; {advice}"),
        }
    }

    /// The message of an error from the reader of arrays and tables, with the name of the array.
    fn of_array(error: &dubio_predictions::Error) -> String {
        match &error.array {
            Some(array) => format!("array `{array}`: {}", error.what),
            None => error.what.clone(),
        }
    }

    /// An error of the operating system about a file, with advice.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_in_a_list_is_further_in_and_a_question_ends_a_sentence() {
        let path = Path::new("a.npz");
        let asks = || Error::new(path, "did you mean `x`?", "name it");
        assert_eq!(asks().in_one_line(), "a.npz: did you mean `x`? name it");
        assert_eq!(Error::together(path, vec![asks()]), asks());
        let both = Error::together(path, vec![asks(), Error::new(path, "NaN", "fill it in")]);
        assert_eq!(both.what, "2 mistakes\n  did you mean `x`? name it\n  NaN; fill it in");
        let listed = Error { advice: "do this".to_string(), ..both }.in_one_line();
        let lines = "\n    did you mean `x`? name it\n    NaN; fill it in\n    do this";
        assert_eq!(listed, format!("a.npz: 2 mistakes{lines}"));
    }
}
