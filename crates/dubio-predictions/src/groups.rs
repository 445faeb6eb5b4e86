//! Groupings of the examples.

use std::path::Path;

use crate::error::Error;

/// Named groupings of the examples; the unnamed one is called "".
#[derive(Clone, Debug, Default)]
pub struct Groups {
    pub(crate) named: Vec<(String, Vec<i64>)>,
    /// Every array of the file.
    pub(crate) there: Vec<String>,
}

impl Groups {
    /// The grouping with this name.
    pub fn get(&self, name: &str) -> Option<&[i64]> {
        self.named.iter().find(|(own, _)| own == name).map(|(_, groups)| &groups[..])
    }

    /// The grouping with this name, which somebody asked for.
    pub fn need(&self, path: &Path, name: &str) -> Result<&[i64], Error> {
        self.get(name).ok_or_else(|| Error::missing(path, &array(name), &self.there))
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(|(name, _)| &name[..])
    }

    /// All groupings under the names that their arrays have in a file.
    pub fn arrays(&self) -> impl Iterator<Item = (String, &[i64])> {
        self.named.iter().map(|(name, groups)| (array(name), &groups[..]))
    }
}

/// The name of the array of a grouping.
fn array(name: &str) -> String {
    if name.is_empty() { "groups".to_string() } else { format!("groups.{name}") }
}
