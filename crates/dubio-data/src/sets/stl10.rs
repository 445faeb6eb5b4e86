//! STL-10: photographs of ten kinds of things, nine times as large as CIFAR-10's.

use std::path::Path;

use super::{Archive, Counts, File, Files, InputKind, Part, Set, Size, Task};
use crate::dataset::Dataset;
use crate::error::Error;
use crate::formats::{open, stl10};

/// The labelled parts; the 100,000 images without labels are not read.
pub static SET: Set = Set {
    name: "stl10",
    summary: "Colour photographs, 10 classes",
    task: Task::Classification(&[
        "airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck",
    ]),
    inputs: InputKind::Images { channels: 3, height: 96, width: 96, white: 255 },
    counts: Counts::Parts { train: 5_000, test: 8_000 },
    licence: "none stated by its authors; images are from ImageNet, for research",
    citation: "Coates, Lee, Ng. An analysis of single-layer networks in unsupervised feature \
               learning. AISTATS, 2011",
    home: "https://cs.stanford.edu/~acoates/stl10/",
    note: "No SHA-256 is known for its files: sizes are checked and nothing else.",
    files: Files::Listed(FILES),
    read,
};

static ARCHIVE: Archive = Archive {
    url: "https://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",
    size: Size::AtMost(3_000_000_000),
    sha256: None,
};

const IMAGE: u64 = 3 * 96 * 96;

const fn file(path: &'static str, size: u64, member: &'static str) -> File {
    File::inside(path, size, None, &ARCHIVE, member)
}

const FILES: &[File] = &[
    file("stl10/train_X.bin", 5_000 * IMAGE, "stl10_binary/train_X.bin"),
    file("stl10/train_y.bin", 5_000, "stl10_binary/train_y.bin"),
    file("stl10/test_X.bin", 8_000 * IMAGE, "stl10_binary/test_X.bin"),
    file("stl10/test_y.bin", 8_000, "stl10_binary/test_y.bin"),
];

fn read(_: &Set, root: &Path, part: Part) -> Result<Dataset, Error> {
    let file = |letter: char| root.join(format!("stl10/{part}_{letter}.bin"));
    let (images, labels) = (file('X'), file('y'));
    stl10::read((&images, &open(&images)?), (&labels, &open(&labels)?))
}
