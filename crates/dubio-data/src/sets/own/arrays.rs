//! Arrays of a user: `.npz`, `.safetensors` or a folder of `.npy`.
//!
//! | arrays | meaning |
//! | --- | --- |
//! | `x_train`, `y_train`, `x_test`, `y_test` | a given split; `groups_train` and `groups_test` besides |
//! | `x`, `y` | all examples; `groups` besides |
//! | `inputs`, `labels` or `targets` | the same by the names of [`crate::formats::npz`] |
//!
//! Without labels it is an OOD set. Integers are labels and floats are targets, unless the task is said. Letter case makes no difference.

use std::collections::BTreeMap;

use dubio_predictions::{Array, Dtype, read_arrays};

use super::options::Own;
use super::whole::{Seen, Whole, join};
use crate::dataset::{Answers, Dataset, Inputs};
use crate::error::Error;
use crate::formats::npz;

pub(super) fn read(own: &Own) -> Result<Whole, Error> {
    let found = read_arrays(&own.path, &|_| true).map_err(Error::from)?;
    let all: BTreeMap<String, Array> =
        found.read.into_iter().map(|(name, array)| (name.to_ascii_lowercase(), array)).collect();
    if all.contains_key("x_train") || all.contains_key("x_test") {
        return given(own, &all);
    }
    let named_x = all.contains_key("x");
    let arrays = match (named_x, own.is_unlabelled()) {
        (true, _) => part(own, &all, "")?,
        (false, true) => all.into_iter().filter(|(name, _)| !is_answer(name)).collect(),
        (false, false) => all,
    };
    let data = npz::of_arrays(&own.path, arrays, None, named_x.then_some(""))?;
    let by = by(own, &data)?;
    Ok(Whole { seen: seen(&data), given: None, by, data })
}

/// The arrays of a training and a test set.
fn given(own: &Own, all: &BTreeMap<String, Array>) -> Result<Whole, Error> {
    let needed: &[&str] = match own.is_unlabelled() {
        true => &["x_train", "x_test"],
        false => &["x_train", "y_train", "x_test", "y_test"],
    };
    let missing: Vec<&str> =
        needed.iter().copied().filter(|name| !all.contains_key(*name)).collect();
    if !missing.is_empty() {
        let what = format!("no array {}", missing.join(", "));
        return Err(Error::new(&own.path, what, "give x_train, y_train, x_test and y_test"));
    }
    let half = |suffix: &str| -> Result<Dataset, Error> {
        npz::of_arrays(&own.path, part(own, all, suffix)?, None, Some(suffix))
    };
    let (train, test) = (half("_train")?, half("_test")?);
    let shape = |data: &Dataset| match &data.inputs {
        Inputs::Images(i) => vec![i.channels, i.height, i.width],
        Inputs::Features { width, .. } => vec![*width],
    };
    let kind = |data: &Dataset| matches!(data.answers, Answers::Classes { .. });
    if shape(&train) != shape(&test) || kind(&train) != kind(&test) {
        let what = format!(
            "examples of shape {:?} in `x_train` and {:?} in `x_test`",
            shape(&train),
            shape(&test)
        );
        return Err(Error::new(&own.path, what, "give both the same shape, and y the same dtype"));
    }
    let names = |data: &Dataset| data.groups.keys().cloned().collect::<Vec<_>>();
    if names(&train) != names(&test) {
        let what = "groups of one half only";
        return Err(Error::new(&own.path, what, "give groups_train and groups_test"));
    }
    let (data, split) = join(train, test, "by the arrays `x_train` and `x_test`");
    let by = by(own, &data)?;
    Ok(Whole { seen: seen(&data), given: Some(split), by, data })
}

/// The arrays of a part, by the names of [`npz`].
fn part(
    own: &Own,
    all: &BTreeMap<String, Array>,
    suffix: &str,
) -> Result<BTreeMap<String, Array>, Error> {
    let mut arrays = BTreeMap::new();
    for (name, array) in all {
        let Some(stem) = name.strip_suffix(suffix) else { continue };
        let name = match (stem, array.dtype()) {
            ("x", _) => "inputs".to_string(),
            ("y", _) if own.is_unlabelled() => continue,
            ("y", Dtype::Integer(..)) if own.get("task") != Some("regression") => {
                "labels".to_string()
            }
            ("y", _) if own.get("task") == Some("classification") => {
                let what = format!("array `y{suffix}` has no integers, but task=classification");
                return Err(Error::new(&own.path, what, "convert it with .astype('int64')"));
            }
            ("y", _) => "targets".to_string(),
            (groups, _) if groups == "groups" || groups.starts_with("groups.") => {
                groups.to_string()
            }
            _ => continue,
        };
        arrays.insert(name, array.clone());
    }
    Ok(arrays)
}

fn is_answer(name: &str) -> bool {
    ["labels", "targets"].contains(&name)
}

fn by(own: &Own, data: &Dataset) -> Result<Option<Vec<i64>>, Error> {
    let Some(name) = own.get("by") else { return Ok(None) };
    let found = data.groups.get(name).cloned();
    found.map(Some).ok_or_else(|| {
        let names: Vec<&str> = data.groups.keys().map(String::as_str).collect();
        let what = format!("no groups `{name}` among: {}", names.join(", "));
        Error::new(&own.path, what, "`by` names an array of groups, as in by=groups")
    })
}

fn seen(data: &Dataset) -> Seen {
    let mut seen = Seen { kind: "arrays", target: "y".into(), ..Seen::default() };
    (seen.task, seen.classes) = match &data.answers {
        Answers::Classes { classes, .. } => (
            "classification: the labels are integers".into(),
            (0..*classes).map(|c| c.to_string()).collect(),
        ),
        Answers::Targets(_) => ("regression: the targets are not classes".into(), Vec::new()),
        Answers::Unlabelled(examples) => {
            seen.unlabelled(*examples);
            return seen;
        }
    };
    seen
}
