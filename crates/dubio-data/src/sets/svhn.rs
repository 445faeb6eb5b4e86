//! SVHN: digits of house numbers, cropped.

use std::path::Path;

use super::{Counts, File, Files, InputKind, Part, Set, Task};
use crate::dataset::Dataset;
use crate::error::Error;
use crate::formats::{mat, open};

/// Street numbers: the usual out-of-distribution set for CIFAR-10.
pub static SET: Set = Set {
    name: "svhn",
    summary: "Digits cropped from photographs of house numbers",
    task: Task::Classification(&["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]),
    inputs: InputKind::Images { channels: 3, height: 32, width: 32, white: 255 },
    counts: Counts::Parts { train: 73_257, test: 26_032 },
    licence: "for non-commercial use only",
    citation: "Netzer, Wang, Coates, Bissacco, Wu, Ng. Reading digits in natural images with \
               unsupervised feature learning. NIPS workshop, 2011",
    home: "http://ufldl.stanford.edu/housenumbers/",
    note: "Checksums are the ones that other libraries list for the published files; they were \
           not computed here. The file writes 10 for the digit 0.",
    files: Files::Listed(FILES),
    read,
};

const FILES: &[File] = &[
    File::at(
        "svhn/train_32x32.mat",
        182_040_794,
        "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
        "http://ufldl.stanford.edu/housenumbers/train_32x32.mat",
    ),
    File::at(
        "svhn/test_32x32.mat",
        64_275_384,
        "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
        "http://ufldl.stanford.edu/housenumbers/test_32x32.mat",
    ),
];

fn read(_: &Set, root: &Path, part: Part) -> Result<Dataset, Error> {
    let path = root.join(format!("svhn/{part}_32x32.mat"));
    mat::read(&path, &open(&path)?)
}
