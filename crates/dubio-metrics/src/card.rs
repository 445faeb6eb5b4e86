//! What a score says about itself: everything that lists, help, tables and tests need to know.

use serde::Deserialize;

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
    /// What one has to know to compute it or to compare it with others.
    pub facts: Facts,
}

/// What can be done with a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The settings that it depends on.
    pub settings: &'static [Setting],
    /// Whether it has a form at the best temperature, `calibrated.NAME`. Scores of the temperature itself, of
    /// other predictions, or of members have none: the temperature belongs to the members' mean.
    pub calibrated: bool,
    /// Whether models may be ranked by it.
    pub ranked: Ranked,
    /// What it needs besides predictions and truth.
    pub requires: Requires,
}

impl Facts {
    /// The facts of most scores of classification.
    pub const CLASSES: Self = Self {
        settings: &[],
        calibrated: true,
        ranked: Ranked::Freely,
        requires: Requires::Nothing,
    };
    /// The facts of scores without a temperature, such as those of regression.
    pub const NUMBERS: Self = Self { calibrated: false, ..Self::CLASSES };

    /// Whether the score depends on a setting.
    pub fn has(&self, setting: Setting) -> bool {
        self.settings.contains(&setting)
    }
}

/// A setting of scores: a field of [`Options`](crate::score::Options).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Number of bins.
    Bins,
    /// Which bin a value on an edge belongs to.
    Edges,
    /// The probability above which a class counts.
    Threshold,
    /// Mass of the central interval.
    Level,
}

impl Setting {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bins, Self::Edges, Self::Threshold, Self::Level];

    /// Name in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bins => "bins",
            Self::Edges => "edges",
            Self::Threshold => "threshold",
            Self::Level => "level",
        }
    }

    /// Name on the command line, behind `--`.
    pub fn option(self) -> &'static str {
        match self {
            Self::Edges => "ece-edges",
            _ => self.name(),
        }
    }
}

/// Whether models may be ranked by a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranked {
    /// They may.
    Freely,
    /// Only by its calibrated form: as it is, it depends on temperatures more than on models.
    Calibrated,
    /// They may not even be put side by side: every model solves a different problem.
    Never,
}

/// What a score needs besides predictions and truth.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
