//! Arrays of a file, taken one by one for what they mean.

use std::collections::BTreeMap;
use std::path::Path;

use dubio_metrics::members::Form;

use crate::Arrays;
use crate::array::Array;
use crate::error::Error;
use crate::groups::Groups;
use crate::names::canonical;
use crate::note::Note;
use crate::shapes;
use crate::source::{Source, Values};

/// Takes a file's arrays one by one, and names the file when one is not as it must be.
pub(crate) struct Taker<'a> {
    pub path: &'a Path,
    arrays: BTreeMap<String, Array>,
    /// Arrays that have no meaning in a predictions file.
    unread: Vec<String>,
    /// Every array of the file, under its own name.
    all: Vec<String>,
    /// What a user should know about how the file was read.
    pub notes: Vec<Note>,
}

impl<'a> Taker<'a> {
    pub(crate) fn new(path: &'a Path, arrays: Arrays) -> Result<Self, Error> {
        let all = arrays.read.keys().chain(&arrays.unread).cloned().collect();
        let mut known = BTreeMap::new();
        let mut taken: BTreeMap<String, String> = BTreeMap::new();
        for (name, array) in arrays.read {
            let key = canonical(&name).unwrap_or_else(|| name.clone());
            if let Some(other) = taken.insert(key.clone(), name.clone()) {
                let what = format!("arrays `{other}` and `{name}` differ only in letter case");
                return Err(Error::file(path, what, "leave one of them"));
            }
            known.insert(key, array);
        }
        Ok(Self { path, arrays: known, unread: arrays.unread, all, notes: Vec::new() })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// The shape of an array; that of a scalar where there is none.
    pub(crate) fn shape(&self, name: &str) -> &[usize] {
        self.arrays.get(name).map_or(&[], Array::shape)
    }

    pub(crate) fn take(&mut self, name: &str) -> Result<Array, Error> {
        self.arrays.remove(name).ok_or_else(|| self.missing(name))
    }

    /// The error that an array is not there, with the names of all that are.
    pub(crate) fn missing(&self, name: &str) -> Error {
        Error::missing(self.path, name, &self.all)
    }

    /// Predictions of classes.
    pub(crate) fn classes(&mut self, name: &str, form: Form) -> Result<Source, Error> {
        let array = self.take(name)?;
        array.need_floats().map_err(|fault| fault.at(self.path, name))?;
        self.not_empty(name, &array)?;
        let examples = self.shape("labels").first().copied();
        shapes::classes(name, array.shape(), form, examples).map_err(|f| f.at(self.path, name))?;
        let (array, values) = match array.shape().len() {
            1 => (array.with_leading_axis().with_trailing_axis(), Values::Binary(form)),
            2 => (array.with_leading_axis(), Values::Stored),
            _ => (array, Values::Stored),
        };
        Ok(Source { name: name.to_string(), path: self.path.to_path_buf(), array, values })
    }

    /// Predictions of a number, for as many examples as there are targets.
    pub(crate) fn numbers(&mut self, name: &str) -> Result<Source, Error> {
        let array = self.take(name)?;
        self.not_empty(name, &array)?;
        let examples = self.shape("targets").first().copied();
        shapes::numbers(name, array.shape(), examples).map_err(|f| f.at(self.path, name))?;
        let array = match array.shape().len() {
            1 => array.with_leading_axis().with_trailing_axis(),
            _ => array.with_trailing_axis(),
        };
        let (name, path) = (name.to_string(), self.path.to_path_buf());
        Ok(Source { name, path, array, values: Values::Stored })
    }

    fn not_empty(&self, name: &str, array: &Array) -> Result<(), Error> {
        if !array.shape().contains(&0) {
            return Ok(());
        }
        let what = format!("shape {:?} is empty", array.shape());
        Err(Error::array(self.path, name, what, "there must be at least one example"))
    }

    pub(crate) fn fit(&self, name: &str, found: usize, examples: usize) -> Result<(), Error> {
        if found == examples {
            return Ok(());
        }
        let entries = if found == 1 { "entry" } else { "entries" };
        let what = format!("{found} {entries} for {examples} examples");
        Err(Error::array(self.path, name, what, "give exactly one entry per example"))
    }

    /// Whole numbers, one per example, converted by `convert`; the first that it refuses is an error
    /// with what `refused` says about it.
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
        Ok(Groups { named: groups, there: self.all.clone() })
    }

    /// All names, whether they mean something or not.
    pub(crate) fn names(&self) -> &[String] {
        &self.all
    }

    /// What there is to note, with the arrays that were not taken.
    pub(crate) fn into_notes(self) -> Vec<Note> {
        let rest: Vec<String> = self.arrays.into_keys().chain(self.unread).collect();
        let unused = (!rest.is_empty()).then(|| format!("not used: {}", rest.join(", ")));
        self.notes.into_iter().chain(unused.map(Note::Remark)).collect()
    }
}
