//! A set as arrays, as users keep their own data: `.npz`, `.safetensors` or a folder of `.npy`.
//!
//! | array | shape | meaning |
//! | --- | --- | --- |
//! | `inputs` | `[examples, width]` of numbers | features |
//! | | `[examples, height, width]`, `[examples, channels, height, width]` or `[examples, height, width, channels]` of `uint8` | images |
//! | `labels` | `[examples]`, whole numbers from 0 | classes |
//! | `targets` | `[examples]` | regression, instead of labels; a set with neither is unlabelled |
//! | `groups` or `groups.NAME` | `[examples]`, whole numbers | optional |
//!
//! The files are opened as predictions are, and their headers are trusted as little.

use std::collections::BTreeMap;
use std::path::Path;

use dubio_predictions::{Array, Dtype, read_arrays};

use crate::dataset::{Answers, Dataset, Images, Inputs};
use crate::error::Error;

/// Reads a set. `classes` may be left out: then it is one more than the largest label.
pub fn read(path: &Path, classes: Option<usize>) -> Result<Dataset, Error> {
    let arrays = read_arrays(path, &|_| true).map_err(Error::from)?;
    of_arrays(path, arrays.read, classes, None)
}

/// A set made of these arrays, or every mistake in them. `part` is the suffix of `x` and `y` in the file;
/// `None` where the arrays are called `inputs` and `labels` instead.
pub fn of_arrays(
    path: &Path,
    arrays: BTreeMap<String, Array>,
    classes: Option<usize>,
    part: Option<&str>,
) -> Result<Dataset, Error> {
    checked(path, arrays, classes, part).map_err(|wrong| Error::together(path, wrong))
}

/// The same, with the mistakes one by one.
pub(crate) fn checked(
    path: &Path,
    arrays: BTreeMap<String, Array>,
    classes: Option<usize>,
    part: Option<&str>,
) -> Result<Dataset, Vec<Error>> {
    let file = File { path, arrays, part };
    let (inputs, answers, groups) = (file.inputs(), file.answers(classes), file.groups());
    let lengths = file.lengths();
    match (inputs, answers, groups) {
        (Ok(inputs), Ok(answers), Ok(groups)) if lengths.is_empty() => {
            Ok(Dataset { inputs, answers, groups })
        }
        (inputs, answers, groups) => {
            let wrong = [inputs.err(), answers.err()].into_iter().flatten();
            Err(wrong.chain(groups.err().unwrap_or_default()).chain(lengths).collect())
        }
    }
}

/// Shape of one example in an array of this shape: features, or channels, height and width. `None` where it is
/// neither.
pub(crate) fn example(shape: &[usize]) -> Option<Vec<usize>> {
    match *shape {
        [_, width] => Some(vec![width]),
        [_, height, width] => Some(vec![1, height, width]),
        [_, height, width, channels] if channels_last(shape) => Some(vec![channels, height, width]),
        [_, channels, height, width] => Some(vec![channels, height, width]),
        _ => None,
    }
}

/// Whether colours come last, as TensorFlow has them, and not before the pixels, as PyTorch does.
fn channels_last(shape: &[usize]) -> bool {
    let is_colour = |axis: usize| matches!(axis, 1 | 3);
    matches!(shape, [_, first, _, last] if !is_colour(*first) && is_colour(*last))
}

struct File<'a> {
    path: &'a Path,
    arrays: BTreeMap<String, Array>,
    part: Option<&'a str>,
}

impl File<'_> {
    fn fault(&self, array: &str, what: impl std::fmt::Display, advice: &str) -> Error {
        let array = match (self.part, array) {
            (None, array) => array.to_string(),
            (Some(part), "inputs") => format!("x{part}"),
            (Some(part), "labels" | "targets") => format!("y{part}"),
            (Some(part), groups) => format!("{groups}{part}"),
        };
        Error::new(self.path, format!("array `{array}`: {what}"), advice)
    }

    fn unread(&self, array: &str, error: &std::io::Error) -> Error {
        self.fault(array, format!("unreadable: {error}"), "the file is damaged: write it again")
    }

    fn inputs(&self) -> Result<Inputs, Error> {
        let Some(array) = self.arrays.get("inputs") else {
            let there: Vec<&str> = self.arrays.keys().map(|name| &name[..]).collect();
            let what = format!("no array `inputs` among {}", there.join(", "));
            return Err(Error::new(
                self.path,
                what,
                "name the arrays `inputs` and `labels` or `targets`",
            ));
        };
        if array.shape().contains(&0) {
            return Err(self.fault(
                "inputs",
                format!("shape {:?} is empty", array.shape()),
                "give some examples",
            ));
        }
        let shape = array.shape();
        let (channels, height, width) = match example(shape).as_deref() {
            Some(&[width]) => {
                let values = self.finite("inputs", array)?;
                return Ok(Inputs::Features { width, values });
            }
            Some(&[channels, height, width]) => (channels, height, width),
            _ => {
                let advice =
                    "give [examples, width], or images as [examples, channels, height, width]";
                return Err(self.fault("inputs", format!("shape {shape:?}"), advice));
            }
        };
        let pixels = array.to_bytes().map_err(|e| self.unread("inputs", &e))?.ok_or_else(|| {
            let advice = "images are bytes, 0 to 255: convert them with .astype('uint8')";
            self.fault("inputs", "images that are not uint8", advice)
        })?;
        let pixels = match channels_last(shape) {
            true => planes(&pixels, channels, height * width),
            false => pixels,
        };
        Ok(Inputs::Images(Images { channels, height, width, white: 255, pixels }))
    }

    fn answers(&self, classes: Option<usize>) -> Result<Answers, Error> {
        match (self.arrays.get("labels"), self.arrays.get("targets")) {
            (Some(labels), None) => self.classes(labels, classes),
            (None, Some(targets)) => Ok(Answers::Targets(self.finite("targets", targets)?)),
            (None, None) => Ok(Answers::Unlabelled(self.examples().unwrap_or(0))),
            (Some(_), Some(_)) => {
                let what = "both `labels` and `targets` in it";
                Err(Error::new(self.path, what, "give labels for classes, targets for numbers"))
            }
        }
    }

    fn classes(&self, array: &Array, classes: Option<usize>) -> Result<Answers, Error> {
        let all = self.whole("labels", array)?;
        let largest = all.iter().copied().max().unwrap_or(0);
        let classes = classes.unwrap_or(largest.max(0) as usize + 1);
        let is_bad = |&row: &usize| all[row] < 0 || all[row] as u64 >= classes.min(1 << 24) as u64;
        let bad: Vec<usize> = (0..all.len()).filter(is_bad).collect();
        if !bad.is_empty() {
            let places = some(&bad, |row| format!("{} in row {row}", all[row]));
            let what = format!("{places}, where there are {classes} classes");
            return Err(self.fault("labels", what, "labels count from 0"));
        }
        Ok(Answers::Classes { classes, labels: all.iter().map(|&label| label as u32).collect() })
    }

    /// The groups, or what is wrong with each.
    fn groups(&self) -> Result<BTreeMap<String, Vec<i64>>, Vec<Error>> {
        let (mut groups, mut wrong) = (BTreeMap::new(), Vec::new());
        for (array, values) in self.arrays.iter().filter(|(name, _)| is_groups(name)) {
            let name = array.strip_prefix("groups.").unwrap_or(array);
            match self.whole(array, values) {
                Ok(values) => drop(groups.insert(name.to_string(), values)),
                Err(error) => wrong.push(error),
            }
        }
        if wrong.is_empty() { Ok(groups) } else { Err(wrong) }
    }

    fn finite(&self, name: &str, array: &Array) -> Result<Vec<f64>, Error> {
        let values = array.to_f64().map_err(|e| self.unread(name, &e))?;
        let bad: Vec<usize> = (0..values.len()).filter(|&i| !values[i].is_finite()).collect();
        if bad.is_empty() {
            return Ok(values);
        }
        let place =
            |element: usize| format!("{} at {:?}", values[element], index(element, array.shape()));
        let advice = "fill the gap or drop the row; nothing is guessed";
        Err(self.fault(name, some(&bad, place), advice))
    }

    fn whole(&self, name: &str, array: &Array) -> Result<Vec<i64>, Error> {
        if !matches!(array.dtype(), Dtype::Integer(..)) {
            return Err(self.fault(name, "no whole numbers", "convert it with .astype('int64')"));
        }
        array.to_i64().map_err(|e| self.unread(name, &e))?.ok_or_else(|| {
            let advice =
                "number them anew, for example with np.unique(..., return_inverse=True)[1]";
            self.fault(name, format!("a number above {}", i64::MAX), advice)
        })
    }

    fn examples(&self) -> Option<usize> {
        self.arrays.get("inputs")?.shape().first().copied()
    }

    /// The arrays that do not have one number for every example.
    fn lengths(&self) -> Vec<Error> {
        let Some(examples) = self.examples() else { return Vec::new() };
        let one_each = |name: &str| ["labels", "targets"].contains(&name) || is_groups(name);
        let wrong = self
            .arrays
            .iter()
            .filter(|(name, array)| one_each(name) && *array.shape() != [examples]);
        let fault = |(name, array): (&String, &Array)| {
            let what = format!("shape {:?}, where there are {examples} inputs", array.shape());
            self.fault(name, what, "give one number for every example")
        };
        wrong.map(fault).collect()
    }
}

/// Whether an array of this name has groups.
pub(crate) fn is_groups(name: &str) -> bool {
    name == "groups" || name.starts_with("groups.")
}

/// The first of some places in words, and how many more there are.
fn some(places: &[usize], word: impl Fn(usize) -> String) -> String {
    const NAMED: usize = 5;
    let named: Vec<String> = places.iter().take(NAMED).map(|&place| word(place)).collect();
    match places.len() {
        count if count > NAMED => format!("{} and {} more", named.join(", "), count - NAMED),
        _ => named.join(", "),
    }
}

/// Turns pixels with interleaved channels into planes, one for each channel.
fn planes(pixels: &[u8], channels: usize, area: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(pixels.len());
    for image in pixels.chunks_exact(channels * area) {
        for channel in 0..channels {
            out.extend(image.iter().skip(channel).step_by(channels));
        }
    }
    out
}

/// The index of an element along each axis, the last fastest.
fn index(mut element: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, axis) in index.iter_mut().zip(shape).rev() {
        (*at, element) = (element % axis, element / axis);
    }
    index
}
