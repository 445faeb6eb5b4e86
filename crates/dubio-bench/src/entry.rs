//! A method of a suite, under a label.

use std::sync::Arc;

use dubio_infer::recipe::Recipe;

use crate::name::Name;
use crate::search::Space;

/// A method under a label.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name in tables.
    pub label: Name,
    /// Seeds of its own, instead of the suite's: for methods that are too slow to be repeated as often.
    pub seeds: Option<Arc<Vec<u64>>>,
    /// The method with its settings, or with those to be found.
    pub choice: Choice,
}

/// Where a method's settings come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// They are given.
    Fixed(Recipe),
    /// They are searched.
    Searched(Space),
}
