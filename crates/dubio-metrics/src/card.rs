//! What a score says of itself: everything that lists, help, tables and tests need to know.

/// The card of a score: its public name and what a reader must know to use it.
#[derive(Debug)]
pub struct Card {
    /// Name in JSON, on the command line and at the head of a column.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The definition, in plain text.
    pub formula: &'static str,
    /// Smallest and largest possible value.
    pub range: (f64, f64),
    /// Which values are better.
    pub direction: Direction,
    /// Where the definition comes from.
    pub citation: &'static str,
}

/// Which values of a score are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Larger is better.
    Higher,
    /// Smaller is better.
    Lower,
    /// Closer to zero is better.
    Zero,
    /// A description, not a quality.
    Neither,
}

impl Direction {
    /// An arrow for a column's head; empty where there is nothing to aim for.
    pub fn arrow(self) -> &'static str {
        match self {
            Self::Higher => "↑",
            Self::Lower => "↓",
            Self::Zero => "→0",
            Self::Neither => "",
        }
    }

    /// Larger for worse values; `None` where neither end is worse.
    pub fn badness(self, value: f64) -> Option<f64> {
        match self {
            Self::Higher => Some(-value),
            Self::Lower => Some(value),
            Self::Zero => Some(value.abs()),
            Self::Neither => None,
        }
    }
}

/// No upper or no lower end of a range.
pub const UNBOUNDED: f64 = f64::INFINITY;
