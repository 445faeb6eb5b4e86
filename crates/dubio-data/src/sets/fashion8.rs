//! Clothes shrunk to the size of `digits`, part of the program.

use std::path::Path;

use super::fashion_mnist::{CITATION, CLASSES};
use super::{Counts, Files, InputKind, Part, Set, Task};
use crate::dataset::Dataset;
use crate::error::Error;
use crate::formats::idx;

/// Out-of-distribution for `digits`.
pub static SET: Set = Set {
    name: "fashion8",
    summary: "Clothing images, 8 x 8; out-of-distribution for digits",
    task: Task::Classification(CLASSES),
    inputs: InputKind::Images { channels: 1, height: 8, width: 8, white: 16 },
    counts: Counts::Parts { train: 0, test: 1_000 },
    licence: "MIT",
    citation: CITATION,
    home: "https://github.com/zalandoresearch/fashion-mnist",
    note: "The first hundred test images of every class of Fashion-MNIST, averaged over areas \
           of 3.5 x 3.5 pixels and rounded to 0 to 16, as digits are.",
    files: Files::Embedded,
    read,
};

static IMAGES: &[u8] = include_bytes!("../../embedded/fashion8-images.idx3.gz");
static LABELS: &[u8] = include_bytes!("../../embedded/fashion8-labels.idx1.gz");

fn read(_: &Set, _: &Path, _: Part) -> Result<Dataset, Error> {
    let name = |kind: &str| format!("fashion8-{kind}.gz (embedded)");
    let (images, labels) = (name("images.idx3"), name("labels.idx1"));
    idx::dataset((Path::new(&images), IMAGES), (Path::new(&labels), LABELS), 10)
}
