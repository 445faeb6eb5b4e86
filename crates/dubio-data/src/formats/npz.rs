//! A set as arrays: what a user's own data come as. `.npz`, `.safetensors` or a folder of `.npy`.
//!
//! | array | shape | meaning |
//! | --- | --- | --- |
//! | `inputs` | `[examples, width]` of numbers | features |
//! | | `[examples, height, width]`, `[examples, channels, height, width]` or `[examples, height, width, channels]` of `uint8` | images |
//! | `labels` | `[examples]`, whole numbers from 0 | classes |
//! | `targets` | `[examples]` | regression, instead of labels; a set with neither is unlabelled |
//! | `groups` or `groups.NAME` | `[examples]`, whole numbers | optional |
//!
//! The files are opened as predictions are, so their headers are believed as little.

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

/// A set of these arrays. `part` is what they have behind `x` and `y` in the file, where they are called
/// so and not `inputs` and `labels`.
pub fn of_arrays(
    path: &Path,
    arrays: BTreeMap<String, Array>,
    classes: Option<usize>,
    part: Option<&str>,
) -> Result<Dataset, Error> {
    let file = File { path, arrays, part };
    let inputs = file.inputs()?;
    let answers = file.answers(classes)?;
    let data = Dataset { inputs, answers, groups: file.groups()? };
    file.agree(&data)?;
    Ok(data)
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
        let is_colour = |axis: usize| matches!(axis, 1 | 3);
        // As PyTorch has them, or as TensorFlow does.
        let channels_last =
            matches!(shape, [_, first, _, last] if !is_colour(*first) && is_colour(*last));
        let (channels, height, width) = match *shape {
            [_, width] => {
                let values = self.finite("inputs", array)?;
                return Ok(Inputs::Features { width, values });
            }
            [_, height, width] => (1, height, width),
            [_, height, width, channels] if channels_last => (channels, height, width),
            [_, channels, height, width] => (channels, height, width),
            ref shape => {
                let advice = "[examples, width], or images as [examples, channels, height, width]";
                return Err(self.fault("inputs", format!("shape {shape:?}"), advice));
            }
        };
        let pixels = array.to_bytes().map_err(|e| self.unread("inputs", &e))?.ok_or_else(|| {
            let advice = "images are bytes, 0 to 255: convert them with .astype('uint8')";
            self.fault("inputs", "images that are not uint8", advice)
        })?;
        let pixels = match channels_last {
            true => planes(&pixels, channels, height * width),
            false => pixels,
        };
        Ok(Inputs::Images(Images { channels, height, width, white: 255, pixels }))
    }

    fn answers(&self, classes: Option<usize>) -> Result<Answers, Error> {
        match (self.arrays.get("labels"), self.arrays.get("targets")) {
            (Some(labels), None) => self.classes(labels, classes),
            (None, Some(targets)) => Ok(Answers::Targets(self.finite("targets", targets)?)),
            (None, None) => Ok(Answers::Unlabelled(self.arrays["inputs"].shape()[0])),
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
        let bad =
            all.iter().position(|&label| label < 0 || label as u64 >= classes.min(1 << 24) as u64);
        if let Some(row) = bad {
            let what = format!("{} in row {row}, where there are {classes} classes", all[row]);
            return Err(self.fault("labels", what, "labels count from 0"));
        }
        Ok(Answers::Classes { classes, labels: all.iter().map(|&label| label as u32).collect() })
    }

    fn groups(&self) -> Result<BTreeMap<String, Vec<i64>>, Error> {
        let name = |array: &str| match array {
            "groups" => Some("groups".to_string()),
            _ => array.strip_prefix("groups.").map(String::from),
        };
        let named =
            self.arrays.iter().filter_map(|(array, values)| Some((name(array)?, array, values)));
        named.map(|(name, array, values)| Ok((name, self.whole(array, values)?))).collect()
    }

    fn finite(&self, name: &str, array: &Array) -> Result<Vec<f64>, Error> {
        let values = array.to_f64().map_err(|e| self.unread(name, &e))?;
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(place) => {
                let what = format!("{} at {:?}", values[place], index(place, array.shape()));
                Err(self.fault(name, what, "fill the gap or drop the row; nothing is guessed"))
            }
        }
    }

    fn whole(&self, name: &str, array: &Array) -> Result<Vec<i64>, Error> {
        if !matches!(array.dtype(), Dtype::Integer(..)) {
            return Err(self.fault(name, "no whole numbers", "convert it with .astype('int64')"));
        }
        let values = array.to_f64().map_err(|e| self.unread(name, &e))?;
        Ok(values.into_iter().map(|value| value as i64).collect())
    }

    /// That every array has one element, or one row, for every example.
    fn agree(&self, data: &Dataset) -> Result<(), Error> {
        let examples = self.arrays["inputs"].shape()[0];
        let answers = match data.answers {
            Answers::Classes { .. } => Some("labels"),
            Answers::Targets(_) => Some("targets"),
            Answers::Unlabelled(_) => None,
        };
        let groups = self.arrays.keys().map(|name| &name[..]);
        let groups = groups.filter(|name| *name == "groups" || name.starts_with("groups."));
        for name in groups.chain(answers) {
            if *self.arrays[name].shape() != [examples] {
                let what = format!(
                    "shape {:?}, where there are {examples} inputs",
                    self.arrays[name].shape()
                );
                return Err(self.fault(name, what, "give one number for every example"));
            }
        }
        Ok(())
    }
}

/// Pixels whose channels lie side by side as planes, one for each channel.
fn planes(pixels: &[u8], channels: usize, area: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(pixels.len());
    for image in pixels.chunks_exact(channels * area) {
        for channel in 0..channels {
            out.extend(image.iter().skip(channel).step_by(channels));
        }
    }
    out
}

/// Where an element stands along each axis, the last fastest.
fn index(mut element: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, axis) in index.iter_mut().zip(shape).rev() {
        (*at, element) = (element % axis, element / axis);
    }
    index
}
