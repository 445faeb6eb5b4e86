//! STL-10's binary files: pictures of 3 x 96 x 96 bytes, colour after colour, each plane column
//! after column; labels one byte each, 1 to 10, in a file of their own. There is no header.
//! Coates, Lee and Ng, "An analysis of single-layer networks in unsupervised feature learning",
//! AISTATS 2011, <https://cs.stanford.edu/~acoates/stl10/>.

use std::path::Path;

use super::{colour_pictures, labels, rows_from_columns};
use crate::dataset::Dataset;
use crate::error::Error;

const SIDE: usize = 96;
const PICTURE: usize = 3 * SIDE * SIDE;

/// A set from a file of pictures and one of labels.
pub fn read(pictures: (&Path, &[u8]), truth: (&Path, &[u8])) -> Result<Dataset, Error> {
    let (path, bytes) = pictures;
    if bytes.is_empty() || !bytes.len().is_multiple_of(PICTURE) {
        let what = format!("{} bytes are no whole number of pictures of {PICTURE}", bytes.len());
        let advice = "the file is cut short or no X.bin of STL-10: delete it and fetch it again";
        return Err(Error::new(path, what, advice));
    }
    let count = bytes.len() / PICTURE;
    if truth.1.len() != count {
        let what =
            format!("{} labels for the {count} pictures of {}", truth.1.len(), path.display());
        return Err(Error::new(truth.0, what, "pictures and labels must be one part's"));
    }
    let labels = labels(truth.0, truth.1.iter().copied(), 1, 10)?;
    let pixels = rows_from_columns(bytes, SIDE, SIDE);
    Ok(colour_pictures(SIDE, pixels, 10, labels))
}
