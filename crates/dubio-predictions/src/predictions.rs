//! What the arrays of a file mean.

use std::path::{Path, PathBuf};

use dubio_metrics::members::{Form, Members};

use crate::Arrays;
use crate::error::{Error, Fault};
use crate::groups::Groups;
use crate::source::Source;
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

impl Predictions {
    /// Finds out what the arrays of a file mean, and whether they fit together.
    pub fn new(path: &Path, arrays: Arrays) -> Result<Self, Error> {
        let mut taker = Taker::new(path, arrays);
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
