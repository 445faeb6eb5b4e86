//! Groups of examples that are scored each on its own.

use std::path::Path;

use dubio_predictions::Groups;

use crate::Error;

/// The array `groups.NAME` of a file, or `groups` where the name is empty.
pub(crate) fn grouping<'a>(
    path: &Path,
    groups: &'a Groups,
    name: &str,
) -> Result<&'a [i64], Error> {
    groups.get(name).ok_or_else(|| {
        let there: Vec<String> = groups.arrays().map(|(array, _)| format!("`{array}`")).collect();
        let wanted = if name.is_empty() { "groups".into() } else { format!("groups.{name}") };
        let there = if there.is_empty() { "none".to_string() } else { there.join(", ") };
        let path = path.display();
        Error::Unfit(format!("{path}: there is no array `{wanted}`; arrays of groups: {there}"))
    })
}
