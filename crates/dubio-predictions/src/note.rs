//! What a user should know about how a file was read.

use std::path::Path;

/// A remark on a file that was read all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// How something was understood, or that it was not used.
    Remark(String),
    /// What is probably a mistake.
    Warning(String),
}

impl Note {
    /// The line to print.
    pub fn about(&self, path: &Path) -> String {
        match self {
            Self::Remark(text) => format!("note: {}: {text}", path.display()),
            Self::Warning(text) => format!("warning: {}: {text}", path.display()),
        }
    }
}
