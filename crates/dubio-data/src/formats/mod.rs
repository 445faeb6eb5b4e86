//! Readers of files, one module per format.
//!
//! A reader takes bytes, and the path that they came from to name it in messages. It believes no
//! size that a file claims before it has compared it with the bytes that are there, so that a
//! damaged or forged file costs an error and never a large allocation.

pub mod cifar;
pub mod gzip;
pub mod idx;
pub mod images;
pub mod mat;
pub mod npz;
pub mod stl10;
pub mod table;
pub mod uci;

use std::path::Path;

use dubio_predictions::input;

use crate::dataset::{Answers, Dataset, Images, Inputs};
use crate::error::Error;

/// What to do about a file that is not what it should be.
pub(crate) const DAMAGED: &str =
    "the file is damaged or of another kind: delete it and fetch it again";

/// All bytes of a file.
pub fn open(path: &Path) -> Result<Vec<u8>, Error> {
    input::read(path).map_err(|error| Error::io(path, &error))
}

/// Turns planes whose columns lie one after another, as MATLAB keeps them, into rows. Every
/// `height * width` bytes are one plane.
pub(crate) fn rows_from_columns(pixels: &[u8], height: usize, width: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(pixels.len());
    for plane in pixels.chunks_exact(height * width) {
        for row in 0..height {
            out.extend((0..width).map(|column| plane[column * height + row]));
        }
    }
    out
}

/// Class labels from bytes, each of which must be below `classes`; `first` is what the file
/// writes for class 0.
pub(crate) fn labels(
    path: &Path,
    bytes: impl Iterator<Item = u8>,
    first: u8,
    classes: usize,
) -> Result<Vec<u32>, Error> {
    let label = |(row, byte): (usize, u8)| match byte.checked_sub(first) {
        Some(label) if usize::from(label) < classes => Ok(u32::from(label)),
        _ => {
            let last = usize::from(first) + classes - 1;
            Err(Error::new(
                path,
                format!("label {byte} in row {row}, not {first} to {last}"),
                DAMAGED,
            ))
        }
    };
    bytes.enumerate().map(label).collect()
}

/// Square colour images with class labels.
pub(crate) fn colour_images(
    side: usize,
    pixels: Vec<u8>,
    classes: usize,
    labels: Vec<u32>,
) -> Dataset {
    let images = Images { channels: 3, height: side, width: side, white: 255, pixels };
    Dataset {
        inputs: Inputs::Images(images),
        answers: Answers::Classes { classes, labels },
        groups: Default::default(),
    }
}
