//! Mistakes in a suite: all of them, each with its position.

use std::fmt;
use std::ops::Range;

use dubio_words::unknown;

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

/// All mistakes in a file, in the order of their positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    /// The file's name, as it was given.
    pub file: String,
    /// At least one, and at most [`MOST_TOLD`].
    pub list: Vec<Mistake>,
    /// How many more there are.
    pub more: usize,
}

/// Most mistakes that are reported; nobody reads more, and looking for what was meant takes time.
pub const MOST_TOLD: usize = 100;

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.list.len() + self.more;
        let word = if count == 1 { "mistake" } else { "mistakes" };
        write!(f, "{}: {count} {word}", self.file)?;
        for Mistake { line, column, message } in &self.list {
            write!(f, "\n  {}:{line}:{column}: {message}", self.file)?;
        }
        if self.more > 0 {
            write!(f, "\n  and {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}

/// Collects mistakes by their position in the text.
pub(crate) struct Collector<'a> {
    text: &'a str,
    list: Vec<(usize, String)>,
    more: usize,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, list: Vec::new(), more: 0 }
    }

    pub(crate) fn add(&mut self, span: Range<usize>, message: impl Into<String>) {
        if self.list.len() < MOST_TOLD {
            self.list.push((span.start, message.into()));
        } else {
            self.more += 1;
        }
    }

    /// Adds that no `what` has this name, and what may have been meant.
    pub(crate) fn unknown<'k>(
        &mut self,
        span: Range<usize>,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'k str> + Clone,
    ) {
        if self.list.len() < MOST_TOLD {
            self.add(span, unknown(what, name, known));
        } else {
            self.more += 1;
        }
    }

    /// How many there are so far.
    pub(crate) fn len(&self) -> usize {
        self.list.len() + self.more
    }

    /// The line of a position, counted from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        match self.list.len() < MOST_TOLD {
            true => self.text[..offset].matches('\n').count() + 1,
            false => 0, // nobody will be told
        }
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
        Err(Mistakes { file: file.to_string(), list: list.collect(), more: self.more })
    }
}
