//! Parts of data sets: training and test set, a whole table, the halves of its splits.

use std::fmt;

use crate::formats::uci::Half;

/// A part of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Training examples.
    Train,
    /// Test examples.
    Test,
    /// A whole table.
    All,
    /// One half of one of the splits of a table.
    Split {
        /// How the splits were made.
        kind: Kind,
        /// Which of them, from 0.
        index: usize,
        /// Which half of it.
        half: Half,
    },
}

/// How the splits of a table were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// At random, nine rows in ten for training.
    Standard,
    /// Along one feature: the middle third of its values for testing.
    Gap,
}

impl Kind {
    /// `standard` or `gap`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Gap => "gap",
        }
    }

    pub(crate) fn of<T>(self, standard: T, gap: T) -> T {
        match self {
            Self::Standard => standard,
            Self::Gap => gap,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Train => f.write_str("train"),
            Self::Test => f.write_str("test"),
            Self::All => f.write_str("all"),
            Self::Split { kind, index, half } => {
                write!(f, "{}/{index}/{}", kind.name(), half.name())
            }
        }
    }
}
