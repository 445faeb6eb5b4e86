//! STL-10's binary files: images of 3 x 96 x 96 bytes, colour after colour, each plane column
//! after column; labels one byte each, 1 to 10, in a file of their own. There is no header.
//! Coates, Lee and Ng, "An analysis of single-layer networks in unsupervised feature learning",
//! AISTATS 2011, <https://cs.stanford.edu/~acoates/stl10/>.

use std::path::Path;

use super::{colour_images, labels, rows_from_columns};
use crate::dataset::Dataset;
use crate::error::Error;

const SIDE: usize = 96;
const IMAGE: usize = 3 * SIDE * SIDE;

/// A set from a file of images and one of labels.
pub fn read(images: (&Path, &[u8]), truth: (&Path, &[u8])) -> Result<Dataset, Error> {
    let (path, bytes) = images;
    if bytes.is_empty() || !bytes.len().is_multiple_of(IMAGE) {
        let what = format!("{} bytes are no whole number of images of {IMAGE}", bytes.len());
        let advice = "the file is cut short or no X.bin of STL-10: delete it and fetch it again";
        return Err(Error::new(path, what, advice));
    }
    let count = bytes.len() / IMAGE;
    if truth.1.len() != count {
        let what = format!("{} labels for the {count} images of {}", truth.1.len(), path.display());
        return Err(Error::new(truth.0, what, "images and labels must belong to the same part"));
    }
    let labels = labels(truth.0, truth.1.iter().copied(), 1, 10)?;
    let pixels = rows_from_columns(bytes, SIDE, SIDE);
    Ok(colour_images(SIDE, pixels, 10, labels))
}
