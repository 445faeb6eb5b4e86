//! CIFAR's binary batches: records of one label byte (CIFAR-10), or of a coarse and a fine label
//! byte (CIFAR-100), and 3072 bytes of pixels, 32 x 32 of red, then green, then blue. There is no
//! header. Krizhevsky, "Learning multiple layers of features from tiny images", 2009,
//! <https://www.cs.toronto.edu/~kriz/cifar.html>.

use std::path::Path;

use super::{DAMAGED, colour_images, labels};
use crate::dataset::Dataset;
use crate::error::Error;

const SIDE: usize = 32;
const PIXELS: usize = 3 * SIDE * SIDE;

/// Which of the two layouts a batch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// CIFAR-10: one label, 0 to 9.
    Ten,
    /// CIFAR-100: a coarse label, 0 to 19, then a fine label, 0 to 99.
    Hundred,
}

impl Layout {
    fn label_bytes(self) -> usize {
        match self {
            Self::Ten => 1,
            Self::Hundred => 2,
        }
    }

    fn classes(self) -> usize {
        match self {
            Self::Ten => 10,
            Self::Hundred => 100,
        }
    }
}

/// Reads a batch. The classes of CIFAR-100 are the fine ones; its 20 coarse ones are the group
/// `coarse`.
pub fn read(path: &Path, bytes: &[u8], layout: Layout) -> Result<Dataset, Error> {
    let record = layout.label_bytes() + PIXELS;
    if bytes.is_empty() || !bytes.len().is_multiple_of(record) {
        let what = format!("{} bytes are no whole number of records of {record}", bytes.len());
        let advice = "use the binary version, not the Python one; if it is that, the file is cut \
             short: delete it and fetch it again";
        return Err(Error::new(path, what, advice));
    }
    let records = || bytes.chunks_exact(record);
    let fine = records().map(|record| record[layout.label_bytes() - 1]);
    let labels = labels(path, fine, 0, layout.classes())?;
    let pixels = records().flat_map(|record| &record[layout.label_bytes()..]).copied().collect();
    let mut data = colour_images(SIDE, pixels, layout.classes(), labels);
    if layout == Layout::Hundred {
        let coarse = coarse(path, records().map(|record| record[0]))?;
        data.groups.insert("coarse".to_string(), coarse);
    }
    Ok(data)
}

fn coarse(path: &Path, bytes: impl Iterator<Item = u8>) -> Result<Vec<i64>, Error> {
    let checked = bytes.enumerate().map(|(row, label)| match label {
        0..20 => Ok(i64::from(label)),
        _ => Err(Error::new(
            path,
            format!("coarse label {label} in row {row}, not 0 to 19"),
            DAMAGED,
        )),
    });
    checked.collect()
}
