//! What the arrays of a file mean.

use std::path::{Path, PathBuf};

use dubio_metrics::members::{Form, Members, SUM_TOLERANCE};

use crate::Arrays;
use crate::error::Error;
use crate::groups::Groups;
use crate::labels::labels;
use crate::names::{CLASSIFICATION, REGRESSION};
use crate::note::Note;
use crate::regression::{Regression, regression};
use crate::source::{Source, Values};
use crate::taker::Taker;

/// A predictions file whose arrays fit together.
pub enum Predictions {
    /// Class probabilities in some form.
    Classification(Classification),
    /// Distributions of a number.
    Regression(Regression),
}

/// Member predictions over classes.
pub struct Classification {
    /// The file.
    pub path: PathBuf,
    /// What the numbers are.
    pub form: Form,
    /// The numbers, `[members, examples, classes]`.
    pub source: Source,
    /// True classes, all below the number of classes; `None` when the file has none.
    pub labels: Option<Vec<u32>>,
    /// Groups of examples.
    pub groups: Groups,
    /// What a user should know about how the file was read.
    pub notes: Vec<Note>,
    /// Every array of the file.
    pub arrays: Vec<String>,
}

impl Classification {
    /// The labels, which every score needs.
    pub fn need_labels(&self) -> Result<&[u32], Error> {
        self.labels.as_deref().ok_or_else(|| Error::missing(&self.path, "labels", &self.arrays))
    }
}

impl Predictions {
    /// What a user should know about how the file was read.
    pub fn notes(&self) -> &[Note] {
        match self {
            Self::Classification(file) => &file.notes,
            Self::Regression(file) => &file.notes,
        }
    }

    /// Finds out what the arrays of a file mean, and whether they fit together. `lower` and `upper`
    /// are the ends of a central interval of mass `level`.
    pub(crate) fn new(path: &Path, arrays: Arrays, level: f64) -> Result<Self, Error> {
        let taker = Taker::new(path, arrays)?;
        let classes: Vec<(&str, Form)> =
            CLASSIFICATION.into_iter().filter(|(name, _)| taker.has(name)).collect();
        let numbers: Vec<&str> = REGRESSION.into_iter().filter(|name| taker.has(name)).collect();
        match (&classes[..], &numbers[..]) {
            (&[(name, form)], []) => classes_of(taker, name, form).map(Self::Classification),
            ([], [_, ..]) => regression(taker, level).map(Self::Regression),
            ([], []) => Err(no_predictions(&taker)),
            (classes, numbers) => {
                let classes = classes.iter().map(|(name, _)| *name);
                let names: Vec<&str> = classes.chain(numbers.iter().copied()).collect();
                let what = format!("predictions in more than one form: {}", names.join(", "));
                Err(Error::file(path, what, "leave exactly one"))
            }
        }
    }
}

fn no_predictions(taker: &Taker<'_>) -> Error {
    let there = taker.names();
    let what = match there {
        [] => "there is no array in it".to_string(),
        _ => format!("no predictions among its arrays: {}", there.join(", ")),
    };
    let advice = "name one array `logits`, `log_probs` or `probs` (with `labels`), or `mean` and \
                  `std`, `samples`, `quantiles` and `levels`, or `lower` and `upper` (with `targets`)";
    Error::file(taker.path, what, advice)
}

fn classes_of(mut taker: Taker<'_>, name: &str, form: Form) -> Result<Classification, Error> {
    let path = taker.path.to_path_buf();
    let source = taker.classes(name, form)?;
    let (examples, classes) = (source.examples(), source.width());
    if classes > 1 << 24 || examples > u32::MAX as usize {
        let what = format!("{examples} examples of {classes} classes");
        return Err(Error::array(&path, name, what, "at most 2^32 examples of 2^24 classes"));
    }
    let labels = match taker.has("labels") {
        true => Some(labels(&mut taker, examples, classes)?),
        false => None,
    };
    let groups = taker.groups(examples)?;
    taker.notes.extend(probabilities_as_logits(&source, form));
    let (arrays, notes) = (taker.names().to_vec(), taker.into_notes());
    Ok(Classification { path, form, source, labels, groups, notes, arrays })
}

/// How many rows are looked at to tell probabilities from logits.
const LOOKED_AT: usize = 100;

/// A warning where `logits` look like probabilities: rows of real logits do not all sum to one.
fn probabilities_as_logits(source: &Source, form: Form) -> Option<Note> {
    if form != Form::Logits {
        return None;
    }
    let (rows, width) = (source.examples().min(LOOKED_AT), source.array.shape()[2]);
    let mut block = vec![0.0; rows * width];
    // A file that cannot be read says so when it is scored.
    source.array.read_rows(0, 0..rows, &mut block).ok()?;
    let probability = |x: &f64| (0.0..=1.0).contains(x);
    let sums_to_one = |row: &[f64]| (row.iter().sum::<f64>() - 1.0).abs() <= SUM_TOLERANCE;
    let which = match rows == source.examples() {
        true => "every row".to_string(),
        false => format!("each of the first {rows} rows"),
    };
    let seen = match source.values {
        // A few numbers between 0 and 1 may well be logits.
        Values::Binary(_) => {
            (rows >= 20 && block.iter().all(probability)).then_some("lies between 0 and 1")
        }
        _ => {
            let all = block.iter().all(probability) && block.chunks_exact(width).all(sums_to_one);
            all.then_some("sums to one")
        }
    };
    seen.map(|seen| {
        Note::Warning(format!(
            "{which} of `logits` {seen}: these look like probabilities; if they are, name the \
             array `probs`"
        ))
    })
}
