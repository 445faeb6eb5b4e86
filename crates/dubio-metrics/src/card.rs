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
    /// What whoever works it out, or puts it beside others, has to know.
    pub facts: Facts,
}

/// What can be done with a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Whether it depends on the number of bins.
    pub bins: bool,
    /// Whether it has a form at the best temperature, `calibrated.NAME`. Not so what is about the temperature
    /// itself, about other predictions, or about members: the temperature belongs to their mean.
    pub calibrated: bool,
    /// Whether models may be ranked by it.
    pub ranked: Ranked,
    /// What it is made of beside predictions and truth.
    pub requires: Requires,
}

impl Facts {
    /// Of most scores of classification.
    pub const CLASSES: Self =
        Self { bins: false, calibrated: true, ranked: Ranked::Freely, requires: Requires::Nothing };
    /// Of scores that know no temperature, as those of regression do not.
    pub const NUMBERS: Self = Self { calibrated: false, ..Self::CLASSES };
}

/// Whether models may be ranked by a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranked {
    /// They may.
    Freely,
    /// Only by its calibrated form: as it is, it depends on temperatures more than on models.
    Calibrated,
    /// They may not even be put side by side: every model is given another problem.
    Never,
}

/// What a score is made of beside predictions and truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requires {
    /// Nothing.
    Nothing,
    /// Predictions of a reference.
    Reference,
    /// A cost matrix.
    Costs,
    /// Quantiles and their levels.
    Quantiles,
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
