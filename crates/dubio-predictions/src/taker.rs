//! Arrays of a file, taken one by one for what they mean.

use std::collections::BTreeMap;
use std::path::Path;

use crate::Arrays;
use crate::array::Array;
use crate::error::Error;
use crate::groups::Groups;
use crate::source::Source;

/// Takes a file's arrays one by one, and names the file when one is not as it must be.
pub(crate) struct Taker<'a> {
    pub path: &'a Path,
    arrays: BTreeMap<String, Array>,
    /// Arrays that mean nothing.
    unread: Vec<String>,
}

impl<'a> Taker<'a> {
    pub(crate) fn new(path: &'a Path, arrays: Arrays) -> Self {
        Self { path, arrays: arrays.read, unread: arrays.unread }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    pub(crate) fn take(&mut self, name: &str) -> Result<Array, Error> {
        self.arrays.remove(name).ok_or_else(|| {
            let advice = format!("the file holds: {}", self.names().join(", "));
            Error::file(self.path, format!("there is no array `{name}`"), advice)
        })
    }

    /// An array of `axes` axes, or of one less for a single member.
    pub(crate) fn source(&mut self, name: &str, axes: usize) -> Result<Source, Error> {
        let array = self.take(name)?;
        array.need_floats().map_err(|fault| fault.at(self.path, name))?;
        let array = match array.shape().len() {
            n if n == axes => array,
            n if n + 1 == axes => array.with_leading_axis(),
            _ => {
                let wanted = if axes == 3 {
                    "[members, examples, classes], or [examples, classes] for one member"
                } else {
                    "[members, examples], or [examples] for one member"
                };
                let what = format!("shape {:?}", array.shape());
                return Err(Error::array(self.path, name, what, format!("it must be {wanted}")));
            }
        };
        if array.shape().contains(&0) {
            let what = format!("shape {:?} is empty", array.shape());
            return Err(Error::array(self.path, name, what, "there must be at least one example"));
        }
        let array = if axes == 2 { array.with_trailing_axis() } else { array };
        Ok(Source { name: name.to_string(), path: self.path.to_path_buf(), array })
    }

    pub(crate) fn fit(&self, name: &str, found: usize, examples: usize) -> Result<(), Error> {
        if found == examples {
            return Ok(());
        }
        let what = format!("{found} entries for {examples} examples");
        Err(Error::array(self.path, name, what, "give exactly one entry per example"))
    }

    /// Whole numbers, one per example, as `convert` has them; the first that it refuses is an error
    /// with what `advice` says of it.
    pub(crate) fn integers<T>(
        &mut self,
        name: &str,
        examples: usize,
        convert: impl FnMut(i128) -> Option<T>,
        refused: impl FnOnce(usize, i128) -> (String, String),
    ) -> Result<Vec<T>, Error> {
        let array = self.take(name)?;
        let entries = array.shape().first().copied().unwrap_or(0);
        let values = array.integers(convert).map_err(|fault| fault.at(self.path, name))?;
        self.fit(name, entries, examples)?;
        values.map_err(|(example, value)| {
            let (what, advice) = refused(example, value);
            Error::array(self.path, name, what, advice)
        })
    }

    pub(crate) fn groups(&mut self, examples: usize) -> Result<Groups, Error> {
        let is_group = |name: &&String| *name == "groups" || name.starts_with("groups.");
        let names: Vec<String> = self.arrays.keys().filter(is_group).cloned().collect();
        let mut groups = Vec::new();
        for name in names {
            let narrow = |value: i128| i64::try_from(value).ok();
            let values = self.integers(&name, examples, narrow, |_, _| {
                ("a group number beyond 2^63".into(), "use smaller numbers".into())
            })?;
            let own = name.strip_prefix("groups").unwrap_or_default();
            groups.push((own.trim_start_matches('.').to_string(), values));
        }
        Ok(Groups(groups))
    }

    /// All names, whether they mean something or not.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.arrays.keys().chain(&self.unread).map(|name| &name[..]).collect()
    }

    pub(crate) fn rest(self) -> Vec<String> {
        self.arrays.into_keys().chain(self.unread).collect()
    }
}
