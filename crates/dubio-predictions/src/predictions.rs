//! What the arrays of a file mean.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use dubio_metrics::members::{Form, Members};

use crate::Arrays;
use crate::array::Array;
use crate::error::{Error, Fault};
use crate::guard::give_up;

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
    /// Arrays that mean nothing here.
    pub ignored: Vec<String>,
}

/// Predictive distributions of a number.
pub struct Regression {
    /// The file.
    pub path: PathBuf,
    /// In which form.
    pub kind: RegressionKind,
    /// True values.
    pub targets: Vec<f64>,
    /// Groups of examples.
    pub groups: Groups,
    /// Arrays that mean nothing here.
    pub ignored: Vec<String>,
}

/// How the distributions are given.
pub enum RegressionKind {
    /// Mean and standard deviation of Gaussian members.
    Gaussians(Source, Source),
    /// Draws.
    Samples(Source),
    /// Levels, and the quantiles there.
    Quantiles(Vec<f64>, Source),
}

/// Named groupings of the examples; the unnamed one is called "".
#[derive(Clone, Debug, Default)]
pub struct Groups(Vec<(String, Vec<i64>)>);

impl Groups {
    /// The grouping with this name.
    pub fn get(&self, name: &str) -> Option<&[i64]> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, groups)| &groups[..])
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &name[..])
    }

    /// All groupings under the names that their arrays have in a file.
    pub fn arrays(&self) -> impl Iterator<Item = (String, &[i64])> {
        self.0.iter().map(|(name, groups)| {
            let array = if name.is_empty() { "groups".into() } else { format!("groups.{name}") };
            (array, &groups[..])
        })
    }
}

/// An array of a file, read a block of rows at a time.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name of the array.
    pub name: String,
    path: PathBuf,
    array: Array,
}

impl Source {
    /// Reads what nobody has read, so that damage anywhere in the array is seen: for those who look
    /// at some members only.
    pub fn read_rest(&self) -> Result<(), Error> {
        self.array.read_rest().map_err(|e| Fault::unread(&e).at(&self.path, &self.name))
    }
}

impl Members for Source {
    fn members(&self) -> usize {
        self.array.shape()[0]
    }
    fn examples(&self) -> usize {
        self.array.shape()[1]
    }
    fn width(&self) -> usize {
        self.array.shape()[2]
    }
    /// Gives up the work that [`crate::guarded`] began when the file fails.
    fn read(&self, member: usize, rows: Range<usize>, out: &mut [f64]) {
        if let Err(error) = self.array.read_rows(member, rows, out) {
            give_up(Fault::unread(&error).at(&self.path, &self.name));
        }
    }
}

const CLASSIFICATION: [(&str, Form); 3] =
    [("logits", Form::Logits), ("log_probs", Form::LogProbs), ("probs", Form::Probs)];
const REGRESSION: [&str; 5] = ["mean", "std", "samples", "quantiles", "levels"];

/// Whether an array of this name is part of a predictions file.
pub(crate) fn means_something(name: &str) -> bool {
    CLASSIFICATION.iter().any(|(known, _)| *known == name)
        || REGRESSION.contains(&name)
        || matches!(name, "labels" | "targets" | "groups")
        || name.starts_with("groups.")
}

/// Takes a file's arrays one by one, and names the file when one is not as it must be.
struct Taker<'a> {
    path: &'a Path,
    arrays: BTreeMap<String, Array>,
    /// Arrays that mean nothing.
    unread: Vec<String>,
}

impl Taker<'_> {
    fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    fn take(&mut self, name: &str) -> Result<Array, Error> {
        self.arrays.remove(name).ok_or_else(|| {
            let advice = format!("the file holds: {}", self.names().join(", "));
            Error::file(self.path, format!("there is no array `{name}`"), advice)
        })
    }

    /// An array of `axes` axes, or of one less for a single member.
    fn source(&mut self, name: &str, axes: usize) -> Result<Source, Error> {
        let array = self.take(name)?;
        array.need_floats().map_err(|fault| fault.at(self.path, name))?;
        let array = match array.shape().len() {
            n if n == axes => array,
            n if n + 1 == axes => array.with_leading_axis(),
            _ => {
                let wanted = if axes == 3 {
                    "[members, examples, classes], or [examples, classes] for one member"
                } else {
                    "[members, examples], or [examples] for one member"
                };
                let what = format!("shape {:?}", array.shape());
                return Err(Error::array(self.path, name, what, format!("it must be {wanted}")));
            }
        };
        if array.shape().contains(&0) {
            let what = format!("shape {:?} is empty", array.shape());
            return Err(Error::array(self.path, name, what, "there must be at least one example"));
        }
        let array = if axes == 2 { array.with_trailing_axis() } else { array };
        Ok(Source { name: name.to_string(), path: self.path.to_path_buf(), array })
    }

    fn fit(&self, name: &str, found: usize, examples: usize) -> Result<(), Error> {
        if found == examples {
            return Ok(());
        }
        let what = format!("{found} entries for {examples} examples");
        Err(Error::array(self.path, name, what, "give exactly one entry per example"))
    }

    /// Whole numbers, one per example, as `convert` has them; the first that it refuses is an error
    /// with what `advice` says of it.
    fn integers<T>(
        &mut self,
        name: &str,
        examples: usize,
        convert: impl FnMut(i128) -> Option<T>,
        refused: impl FnOnce(usize, i128) -> (String, String),
    ) -> Result<Vec<T>, Error> {
        let array = self.take(name)?;
        let entries = array.shape().first().copied().unwrap_or(0);
        let values = array.integers(convert).map_err(|fault| fault.at(self.path, name))?;
        self.fit(name, entries, examples)?;
        values.map_err(|(example, value)| {
            let (what, advice) = refused(example, value);
            Error::array(self.path, name, what, advice)
        })
    }

    fn groups(&mut self, examples: usize) -> Result<Groups, Error> {
        let is_group = |name: &&String| *name == "groups" || name.starts_with("groups.");
        let names: Vec<String> = self.arrays.keys().filter(is_group).cloned().collect();
        let mut groups = Vec::new();
        for name in names {
            let narrow = |value: i128| i64::try_from(value).ok();
            let values = self.integers(&name, examples, narrow, |_, _| {
                ("a group number beyond 2^63".into(), "use smaller numbers".into())
            })?;
            let own = name.strip_prefix("groups").unwrap_or_default();
            groups.push((own.trim_start_matches('.').to_string(), values));
        }
        Ok(Groups(groups))
    }

    /// All names, whether they mean something or not.
    fn names(&self) -> Vec<&str> {
        self.arrays.keys().chain(&self.unread).map(|name| &name[..]).collect()
    }

    fn rest(self) -> Vec<String> {
        self.arrays.into_keys().chain(self.unread).collect()
    }
}

impl Predictions {
    /// Finds out what the arrays of a file mean, and whether they fit together.
    pub fn new(path: &Path, arrays: Arrays) -> Result<Self, Error> {
        let mut taker = Taker { path, arrays: arrays.read, unread: arrays.unread };
        let classes: Vec<(&str, Form)> =
            CLASSIFICATION.into_iter().filter(|(name, _)| taker.has(name)).collect();
        let regression: Vec<&str> = REGRESSION.into_iter().filter(|name| taker.has(name)).collect();
        match (&classes[..], &regression[..]) {
            (&[(name, form)], []) => classification(&mut taker, name, form).map(|found| {
                Self::Classification(Classification { ignored: taker.rest(), ..found })
            }),
            ([], [_, ..]) => regressed(&mut taker)
                .map(|found| Self::Regression(Regression { ignored: taker.rest(), ..found })),
            ([], []) => {
                let there = taker.names();
                let what = if there.is_empty() {
                    "there is no array in it".to_string()
                } else {
                    format!("no predictions among its arrays: {}", there.join(", "))
                };
                let advice = "name one array `logits`, `log_probs` or `probs` (with `labels`), or \
                     `mean` and `std`, `samples`, or `quantiles` and `levels` (with `targets`)";
                Err(Error::file(path, what, advice))
            }
            (classes, regression) => {
                let names: Vec<&str> = classes
                    .iter()
                    .map(|(name, _)| *name)
                    .chain(regression.iter().copied())
                    .collect();
                let what = format!("predictions in more than one form: {}", names.join(", "));
                Err(Error::file(path, what, "leave exactly one"))
            }
        }
    }
}

fn classification(taker: &mut Taker<'_>, name: &str, form: Form) -> Result<Classification, Error> {
    let path = taker.path.to_path_buf();
    let source = taker.source(name, 3)?;
    let (examples, classes) = (source.examples(), source.width());
    if classes < 2 {
        let advice = "give a column for each class: for a binary model, those of 1 - p and p";
        return Err(Error::array(&path, name, "there is only one class", advice));
    }
    if classes > 1 << 24 || examples > u32::MAX as usize {
        let what = format!("{examples} examples of {classes} classes");
        return Err(Error::array(&path, name, what, "at most 2^32 examples of 2^24 classes"));
    }
    let labels = if taker.has("labels") {
        let below = |value: i128| u32::try_from(value).ok().filter(|&y| (y as usize) < classes);
        Some(taker.integers("labels", examples, below, |example, label| {
            let advice = format!("labels run from 0 to {} for {classes} classes", classes - 1);
            (format!("label {label} at example {example}"), advice)
        })?)
    } else {
        None
    };
    let groups = taker.groups(examples)?;
    Ok(Classification { path, form, source, labels, groups, ignored: Vec::new() })
}

fn regressed(taker: &mut Taker<'_>) -> Result<Regression, Error> {
    let path = taker.path.to_path_buf();
    let kinds = [
        taker.has("mean") || taker.has("std"),
        taker.has("samples"),
        taker.has("quantiles") || taker.has("levels"),
    ];
    if kinds.into_iter().filter(|&there| there).count() > 1 {
        let what = "predictions in more than one form";
        let advice = "leave `mean` and `std`, or `samples`, or `quantiles` and `levels`";
        return Err(Error::file(&path, what, advice));
    }
    let (kind, examples) = if kinds[0] {
        let (mean, std) = (taker.source("mean", 2)?, taker.source("std", 2)?);
        if mean.array.shape() != std.array.shape() {
            let shape = |s: &Source| s.array.shape()[..2].to_vec();
            let what = format!("shape {:?}, but mean has {:?}", shape(&std), shape(&mean));
            return Err(Error::array(&path, "std", what, "both must have the same shape"));
        }
        let examples = mean.examples();
        (RegressionKind::Gaussians(mean, std), examples)
    } else if kinds[1] {
        let samples = taker.source("samples", 2)?;
        let examples = samples.examples();
        (RegressionKind::Samples(samples), examples)
    } else {
        let quantiles = taker.source("quantiles", 2)?;
        let levels = taker.take("levels")?.floats().map_err(|f| f.at(&path, "levels"))?;
        check_levels(&levels, quantiles.members()).map_err(|f| f.at(&path, "levels"))?;
        let examples = quantiles.examples();
        (RegressionKind::Quantiles(levels, quantiles), examples)
    };
    let targets = taker.take("targets")?.floats().map_err(|f| f.at(&path, "targets"))?;
    taker.fit("targets", targets.len(), examples)?;
    if let Some(example) = targets.iter().position(|y| !y.is_finite()) {
        let what = format!("{} at example {example}", targets[example]);
        return Err(Error::array(&path, "targets", what, "every target must be a number"));
    }
    let groups = taker.groups(examples)?;
    Ok(Regression { path, kind, targets, groups, ignored: Vec::new() })
}

fn check_levels(levels: &[f64], rows: usize) -> Result<(), Fault> {
    if levels.len() != rows {
        return Err(Fault::new(
            format!("{} levels for {rows} rows of quantiles", levels.len()),
            "give one level per row of `quantiles`, shape [levels, examples]",
        ));
    }
    if let Some(bad) = levels.iter().position(|l| !(*l > 0.0 && *l < 1.0)) {
        return Err(Fault::new(
            format!("level {} at place {bad}", levels[bad]),
            "levels lie strictly between 0 and 1",
        ));
    }
    if let Some(bad) = levels.windows(2).position(|pair| pair[0] >= pair[1]) {
        return Err(Fault::new(
            format!("level {} at place {} after {}", levels[bad + 1], bad + 1, levels[bad]),
            "sort the levels, and the rows of quantiles with them, in ascending order",
        ));
    }
    Ok(())
}
