//! The card of a data set: what it is, whose it is, and which files it is made of.

use std::path::Path;

use crate::dataset::{Dataset, Inputs};
use crate::error::Error;
use crate::sets::{File, Part};

/// A data set that is known by name.
pub struct Set {
    /// Name, as in suites and on the command line.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What is to be predicted.
    pub task: Task,
    /// What the inputs look like.
    pub inputs: InputKind,
    /// How many examples each part has.
    pub counts: Counts,
    /// Terms of use, as its authors state them.
    pub licence: &'static str,
    /// Whom to cite.
    pub citation: &'static str,
    /// Where it is published.
    pub home: &'static str,
    /// Anything else worth knowing: where checksums are from, what differs from the paper.
    pub note: &'static str,
    /// What it is made of.
    pub files: Files,
    pub(crate) read: fn(&Set, &Path, Part) -> Result<Dataset, Error>,
}

/// What a model is to predict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// One of these classes, in the order of their labels.
    Classification(&'static [&'static str]),
    /// This quantity.
    Regression(&'static str),
    /// Nothing: it has no labels, and is for OOD detection.
    Unlabelled,
}

/// What an example looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Images of bytes.
    Images {
        /// 1 for grey, 3 for red, green, blue.
        channels: usize,
        /// Rows of pixels.
        height: usize,
        /// Pixels in a row.
        width: usize,
        /// The largest value of a pixel: 255, or 16 for the 8 x 8 sets.
        white: u8,
    },
    /// This many numbers.
    Features(usize),
}

/// How many examples there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// One division into parts; 0 for a part that does not exist.
    Parts {
        /// Training examples.
        train: usize,
        /// Test examples.
        test: usize,
    },
    /// A table that is split many times.
    Splits {
        /// Rows of the table.
        rows: usize,
        /// Number of random 90/10 splits.
        standard: usize,
        /// Number of gap splits, one per feature: the middle third of its values is the test set.
        gap: usize,
    },
}

/// The files of a set.
#[derive(Clone, Copy)]
pub enum Files {
    /// None: it is part of the program.
    Embedded,
    /// These, below the data folder.
    Listed(&'static [File]),
    /// Those of a table of the UCI benchmark, by its folder there and by its folder at its origin.
    Uci {
        /// Folder below `uci/standard` and `uci/gap`.
        folder: &'static str,
        /// Folder in the repository of the standard splits.
        origin: &'static str,
    },
    /// A user's own.
    Own,
}

impl Set {
    /// Reads a part from below the data folder. What is embedded needs no folder.
    pub fn load(&'static self, root: &Path, part: Part) -> Result<Dataset, Error> {
        self.has(part)?;
        let mut data = (self.read)(self, root, part).map_err(|error| self.or_fetch(error))?;
        // A format cannot know the largest value of a pixel: a byte goes up to 255.
        if let (Inputs::Images(images), InputKind::Images { white, .. }) =
            (&mut data.inputs, self.inputs)
        {
            images.white = white;
        }
        Ok(data)
    }

    /// What to do about a file that is not there.
    fn or_fetch(&self, error: Error) -> Error {
        if error.path.exists() || matches!(self.files, Files::Own) {
            return error;
        }
        let fetch = format!("fetch it first: `dubio data fetch {}`", self.name);
        Error { advice: format!("{fetch}, or set DUBIO_DATA to the folder that holds it"), ..error }
    }

    /// Whether the set has this part, and if not, which it has.
    pub fn has(&self, part: Part) -> Result<(), Error> {
        let there = match (self.counts, part) {
            (_, Part::All) if matches!(self.files, Files::Own) => true,
            (Counts::Parts { train, .. }, Part::Train) => train > 0,
            (Counts::Parts { test, .. }, Part::Test) => test > 0,
            (Counts::Splits { .. }, Part::All) => true,
            (Counts::Splits { standard, gap, .. }, Part::Split { kind, index, .. }) => {
                index < kind.of(standard, gap)
            }
            _ => false,
        };
        if there {
            return Ok(());
        }
        let name = format!("{}:{part}", self.name);
        Err(Error::new(name, "no such part", format!("{} has {}", self.name, self.parts())))
    }

    /// The names of its parts, in words.
    pub fn parts(&self) -> String {
        match self.counts {
            Counts::Parts { train: 0, .. } => "only `test`".to_string(),
            Counts::Parts { test: 0, .. } => "only `train`".to_string(),
            Counts::Parts { .. } => "`train` and `test`".to_string(),
            Counts::Splits { standard, gap, .. } => format!(
                "`all`, and `standard/I/train` and `/test` for I = 0 to {}, `gap/I/...` for I = 0 to {}",
                standard - 1,
                gap - 1
            ),
        }
    }

    /// Number of classes; `None` for regression and without labels.
    pub fn classes(&self) -> Option<usize> {
        match self.task {
            Task::Classification(names) => Some(names.len()),
            Task::Regression(_) | Task::Unlabelled => None,
        }
    }
}
