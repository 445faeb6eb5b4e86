//! Mistakes in a user's table: all of them, each with line and column.

use std::path::Path;

use crate::error::Error;

/// Mistakes that are shown; nobody reads more.
const SHOWN: usize = 20;

/// Collects mistakes.
#[derive(Default)]
pub(super) struct Mistakes {
    list: Vec<(u64, usize, String)>,
    advice: &'static str,
}

impl Mistakes {
    /// One in this line and in the cell with this number, both counted from 1.
    pub(super) fn add(&mut self, line: u64, cell: usize, what: String, advice: &'static str) {
        if self.advice.is_empty() {
            self.advice = advice;
        }
        self.list.push((line, cell, what));
    }

    /// One in the file at this place of a list.
    pub(super) fn at_file(&mut self, index: usize, what: String) {
        self.list.push((index as u64, 0, what));
    }

    /// The mistakes of files, each of which names its file.
    pub(super) fn finish_files(self, path: &Path, advice: &str) -> Result<(), Error> {
        let count = self.list.len();
        let shown: Vec<&str> = self.list.iter().take(SHOWN).map(|(_, _, what)| &what[..]).collect();
        let more = match count.saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("\n  and {more} more"),
        };
        match count {
            0 => Ok(()),
            _ => {
                let files = dubio_words::counted(count, "image");
                let what = format!("{files} cannot be used\n  {}{more}", shown.join("\n  "));
                Err(Error::new(path, what, advice))
            }
        }
    }

    pub(super) fn finish(mut self, path: &Path) -> Result<(), Error> {
        if self.list.is_empty() {
            return Ok(());
        }
        self.list.sort();
        let count = self.list.len();
        let mut what = format!("{count} {}", if count == 1 { "mistake" } else { "mistakes" });
        for (line, cell, text) in self.list.iter().take(SHOWN) {
            what += &format!("\n  {}:{line}:{cell}: {text}", path.display());
        }
        if count > SHOWN {
            what += &format!("\n  and {} more", count - SHOWN);
        }
        Err(Error::new(path, what, self.advice))
    }
}
