//! Mistakes in a suite: all of them, each with its place.

use std::fmt;
use std::ops::Range;

/// A mistake and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Counted from 1.
    pub line: usize,
    /// Characters, counted from 1.
    pub column: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

/// All mistakes in a file, in the order of their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    /// The file's name, as it was given.
    pub file: String,
    /// At least one.
    pub list: Vec<Mistake>,
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.list.len();
        let word = if count == 1 { "mistake" } else { "mistakes" };
        write!(f, "{}: {count} {word}", self.file)?;
        for Mistake { line, column, message } in &self.list {
            write!(f, "\n  {}:{line}:{column}: {message}", self.file)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}

/// Collects mistakes by their place in the text.
pub(crate) struct Collector<'a> {
    text: &'a str,
    list: Vec<(usize, String)>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, list: Vec::new() }
    }

    pub(crate) fn add(&mut self, place: Range<usize>, message: impl Into<String>) {
        self.list.push((place.start, message.into()));
    }

    /// How many there are so far.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The mistakes, or `Ok` when there are none.
    pub(crate) fn finish(&mut self, file: &str) -> Result<(), Mistakes> {
        if self.list.is_empty() {
            return Ok(());
        }
        self.list.sort();
        self.list.dedup();
        let list = self.list.iter().map(|(offset, message)| {
            let before = &self.text[..*offset];
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            Mistake {
                line: before.matches('\n').count() + 1,
                column: before[line_start..].chars().count() + 1,
                message: message.clone(),
            }
        });
        Err(Mistakes { file: file.to_string(), list: list.collect() })
    }
}
