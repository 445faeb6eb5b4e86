//! Arrays of a user: `.npz`, `.safetensors` or a folder of `.npy`.
//!
//! | arrays | meaning |
//! | --- | --- |
//! | `x_train`, `y_train`, `x_test`, `y_test` | a given split; `groups_train` and `groups_test` besides |
//! | `x`, `y` | all examples; `groups` besides |
//! | `inputs`, `labels` or `targets` | the same by the names of [`crate::formats::npz`] |
//!
//! Without labels it is an OOD set. Integers are labels and floats are targets, unless the task is given.
//! Letter case makes no difference.

use std::collections::BTreeMap;

use dubio_predictions::{Array, Dtype, read_arrays};
use dubio_words::nearest;

use super::options::Own;
use super::whole::{Seen, Whole, join};
use crate::dataset::{Answers, Dataset};
use crate::error::Error;
use crate::formats::npz::{self, is_groups};

type Arrays = BTreeMap<String, Array>;

/// A way to name arrays.
struct Naming {
    /// The suffix of `x` and `y` in each half; `None` where the arrays have other names.
    halves: &'static [Option<&'static str>],
    needed: &'static [&'static str],
    optional: &'static [&'static str],
}

const NAMINGS: [Naming; 3] = [
    Naming {
        halves: &[Some("_train"), Some("_test")],
        needed: &["x_train", "y_train", "x_test", "y_test"],
        optional: &["groups_train", "groups_test"],
    },
    Naming { halves: &[Some("")], needed: &["x"], optional: &["y", "groups"] },
    Naming { halves: &[None], needed: &["inputs"], optional: &["labels", "targets", "groups"] },
];

impl Naming {
    /// The first naming of which a needed array is there; if there is none, that of a training and a test set.
    fn of(all: &Arrays) -> &'static Self {
        let has = |naming: &&Self| naming.needed.iter().any(|name| all.contains_key(*name));
        NAMINGS.iter().find(has).unwrap_or(&NAMINGS[0])
    }

    fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.needed.iter().chain(self.optional).copied()
    }

    fn has(&self, name: &str) -> bool {
        let groups_of = |half: &Option<&str>| {
            name.strip_suffix(half.unwrap_or_default()).is_some_and(is_groups)
        };
        self.names().any(|known| known == name) || self.halves.iter().any(groups_of)
    }
}

pub(super) fn read(own: &Own) -> Result<Whole, Error> {
    let is_known = |name: &str| NAMINGS.iter().any(|way| way.has(&name.to_ascii_lowercase()));
    let found = read_arrays(&own.path, &is_known).map_err(Error::from)?;
    let mut wrong = same_but_for_case(own, found.read.keys());
    let all: Arrays =
        found.read.into_iter().map(|(name, array)| (name.to_ascii_lowercase(), array)).collect();
    let naming = Naming::of(&all);
    let ignored: Vec<String> =
        all.keys().filter(|name| !naming.has(name)).cloned().chain(found.unread).collect();
    wrong.extend(wrong_names(own, naming, &all, &ignored));
    let mut halves = Vec::new();
    for &half in naming.halves {
        halves.push((half, part(own, &all, half, &mut wrong)));
    }
    if let [(_, train), (_, test)] = &halves[..] {
        unlike(own, train, test, &mut wrong);
    }
    let mut sets = Vec::new();
    for (half, arrays) in halves.into_iter().filter(|(_, all)| all.contains_key("inputs")) {
        match npz::checked(&own.path, arrays, None, half) {
            Ok(data) => sets.push(data),
            Err(more) => wrong.extend(more),
        }
    }
    let mut sets = sets.into_iter();
    let (Some(data), true) = (sets.next(), wrong.is_empty()) else {
        return Err(Error::together(&own.path, wrong));
    };
    let (data, given) = match sets.next() {
        None => (data, None),
        Some(test) => {
            let (data, split) = join(data, test, "by the arrays `x_train` and `x_test`");
            (data, Some(split))
        }
    };
    let by = by(own, &data)?;
    Ok(Whole { seen: Seen { ignored, ..seen(&data) }, given, by, data })
}

/// Arrays whose names differ only in letter case.
fn same_but_for_case<'a>(own: &Own, names: impl Iterator<Item = &'a String>) -> Vec<Error> {
    let mut seen: BTreeMap<String, &String> = BTreeMap::new();
    let twice =
        names.filter_map(|name| Some((seen.insert(name.to_ascii_lowercase(), name)?, name)));
    let fault = |(other, name): (&String, &String)| {
        let what = format!("arrays `{other}` and `{name}` differ only in letter case");
        Error::new(&own.path, what, "leave one of them")
    };
    twice.map(fault).collect()
}

/// Needed arrays that are missing, and unknown names that are close to those of missing arrays.
fn wrong_names(own: &Own, naming: &Naming, all: &Arrays, ignored: &[String]) -> Vec<Error> {
    let absent = naming.names().filter(|name| !all.contains_key(*name));
    let mut wrong = Vec::new();
    let mut meant = String::new();
    for name in ignored {
        if let Some(near) = nearest(&name.to_ascii_lowercase(), absent.clone()) {
            let what = format!("no array is called `{name}`; did you mean {near}?");
            wrong.push(Error::new(&own.path, what, ""));
            meant += &near;
        }
    }
    let is_needed = |name: &&str| {
        naming.needed.contains(name)
            && !(own.is_unlabelled() && name.starts_with('y'))
            && !meant.contains(&format!("`{name}`"))
    };
    let missing: Vec<&str> = absent.filter(is_needed).collect();
    if !missing.is_empty() {
        let among = match all.is_empty() {
            true => format!(" among {}", ignored.join(", ")),
            false => String::new(),
        };
        let what = format!("no array {}{among}", missing.join(", "));
        let advice = "give x_train, y_train, x_test and y_test, or x and y";
        wrong.push(Error::new(&own.path, what, advice));
    }
    wrong
}

/// Reports where a training and a test set differ in what they must have in common.
fn unlike(own: &Own, train: &Arrays, test: &Arrays, wrong: &mut Vec<Error>) {
    let mut add = |what: String, advice: &str| wrong.push(Error::new(&own.path, what, advice));
    let both = |name: &str| Some((train.get(name)?, test.get(name)?));
    if let Some((a, b)) = both("inputs")
        && let (Some(a), Some(b)) = (npz::example(a.shape()), npz::example(b.shape()))
        && a != b
    {
        let what = format!("examples of shape {a:?} in `x_train` and {b:?} in `x_test`");
        add(what, "give both the same shape");
    }
    for (a, b, whole, other) in [(train, test, "train", "test"), (test, train, "test", "train")] {
        if a.contains_key("labels") && b.contains_key("targets") {
            let what = format!("`y_{whole}` has whole numbers, `y_{other}` has not");
            let advice =
                "give both as whole numbers for classes, .astype('int64'), or say task=regression";
            add(what, advice);
        }
        for groups in a.keys().filter(|name| is_groups(name) && !b.contains_key(*name)) {
            let what = format!("`{groups}_{whole}` without `{groups}_{other}`");
            add(what, "give the groups of both sets");
        }
    }
}

/// The arrays of a half, by the names of [`npz`].
fn part(own: &Own, all: &Arrays, half: Option<&str>, wrong: &mut Vec<Error>) -> Arrays {
    let mut arrays = Arrays::new();
    for (name, array) in all {
        let Some(stem) = name.strip_suffix(half.unwrap_or_default()) else { continue };
        let is_answer = matches!((half, stem), (Some(_), "y") | (None, "labels" | "targets"));
        let name = match (half, stem, array.dtype()) {
            _ if is_answer && own.is_unlabelled() => continue,
            (Some(_), "x", _) => "inputs",
            (Some(_), "y", Dtype::Integer(..)) if own.get("task") != Some("regression") => "labels",
            (Some(half), "y", _) if own.get("task") == Some("classification") => {
                let what = format!("array `y{half}` has no integers, but task=classification");
                wrong.push(Error::new(&own.path, what, "convert it with .astype('int64')"));
                continue;
            }
            (Some(_), "y", _) => "targets",
            (None, "inputs" | "labels" | "targets", _) => stem,
            _ if is_groups(stem) => stem,
            _ => continue,
        };
        arrays.insert(name.to_string(), array.clone());
    }
    arrays
}

fn by(own: &Own, data: &Dataset) -> Result<Option<Vec<i64>>, Error> {
    let Some(name) = own.get("by") else { return Ok(None) };
    let found = data.groups.get(name).cloned();
    found.map(Some).ok_or_else(|| {
        let names = data.groups.keys().map(String::as_str);
        let what = match data.groups.is_empty() {
            true => format!("`by` is `{name}`, but no array has groups"),
            false => dubio_words::unknown("array of groups", name, names),
        };
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
        Answers::Targets(_) => {
            ("regression: the targets are floating-point; integers are classes".into(), Vec::new())
        }
        Answers::Unlabelled(examples) => {
            seen.unlabelled(*examples);
            return seen;
        }
    };
    seen
}
