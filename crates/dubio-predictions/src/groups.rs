//! Groupings of the examples.

/// Named groupings of the examples; the unnamed one is called "".
#[derive(Clone, Debug, Default)]
pub struct Groups(pub(crate) Vec<(String, Vec<i64>)>);

impl Groups {
    /// The grouping with this name.
    pub fn get(&self, name: &str) -> Option<&[i64]> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, groups)| &groups[..])
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &name[..])
    }

    /// All groupings under the names that their arrays have in a file.
    pub fn arrays(&self) -> impl Iterator<Item = (String, &[i64])> {
        self.0.iter().map(|(name, groups)| {
            let array = if name.is_empty() { "groups".into() } else { format!("groups.{name}") };
            (array, &groups[..])
        })
    }
}
