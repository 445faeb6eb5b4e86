//! Mistakes in a user's table: all of them, each with line and column.

use std::path::Path;

use crate::error::{Error, below};

/// Collects mistakes.
#[derive(Default)]
pub(super) struct Mistakes {
    list: Vec<(u64, usize, String)>,
    advice: Vec<&'static str>,
}

impl Mistakes {
    /// Adds a mistake in this line and in the cell with this number, both counted from 1.
    pub(super) fn add(&mut self, line: u64, cell: usize, what: String, advice: &'static str) {
        if !self.advice.contains(&advice) {
            self.advice.push(advice);
        }
        self.list.push((line, cell, what));
    }

    /// Adds a mistake in the file at this place of a list.
    pub(super) fn at_file(&mut self, index: usize, what: String) {
        self.list.push((index as u64, 0, what));
    }

    /// Reports the mistakes of files, each of which names its file.
    pub(super) fn finish_files(self, path: &Path, advice: &str) -> Result<(), Error> {
        let lines: Vec<String> = self.list.into_iter().map(|(_, _, what)| what).collect();
        match lines.len() {
            0 => Ok(()),
            count => {
                let files = dubio_words::counted(count, "image");
                let what = format!("{files} cannot be used{}", below(&lines));
                Err(Error::new(path, what, advice))
            }
        }
    }

    pub(super) fn finish(mut self, path: &Path) -> Result<(), Error> {
        if self.list.is_empty() {
            return Ok(());
        }
        self.list.sort();
        let line = |(line, cell, text): &(u64, usize, String)| {
            format!("{}:{line}:{cell}: {text}", path.display())
        };
        let lines: Vec<String> = self.list.iter().map(line).collect();
        let what = format!("{}{}", dubio_words::counted(lines.len(), "mistake"), below(&lines));
        Err(Error::new(path, what, self.advice.join("\n  ")))
    }
}
