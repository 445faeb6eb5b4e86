//! notMNIST: the letters A to J in many typefaces, in the files and sizes of MNIST.

use std::borrow::Cow;

use super::{Counts, File, Files, InputKind, Measured, Origin, Set, Size, Task, like_mnist};

/// Letters: the usual out-of-distribution set for digits.
pub static SET: Set = Set {
    name: "notmnist",
    summary: "Letters A to J in many typefaces, MNIST format",
    task: Task::Classification(&["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"]),
    inputs: InputKind::Images { channels: 1, height: 28, width: 28, white: 255 },
    counts: Counts::Parts { train: 0, test: 10_000 },
    licence: "none stated by its author",
    citation: "Bulatov. notMNIST dataset. 2011",
    home: "http://yaroslavvb.blogspot.com/2011/09/notmnist-dataset.html",
    note: "A sample of 1,000 letters a class. It is published as PNG only, so there are IDX files \
           of more than one sample about; the checksums are of the one used here.",
    files: Files::Listed(FILES),
    read: like_mnist,
};

const BY_HAND: &str = "there is no published IDX version: put the IDX files of a sample there";

const fn file(path: &'static str, size: u64, sha256: &'static str) -> File {
    File {
        path: Cow::Borrowed(path),
        measured: Measured::AsIs,
        size: Size::Exactly(size),
        sha256: Some(Cow::Borrowed(sha256)),
        origin: Origin::ByHand(BY_HAND),
    }
}

const FILES: &[File] = &[
    file(
        "notmnist/t10k-images-idx3-ubyte.gz",
        3_172_375,
        "70ae9e06201f2827e5b0a3781a3169d735dd2efc69996b9eeaee7f10ed4044d7",
    ),
    file(
        "notmnist/t10k-labels-idx1-ubyte.gz",
        5_118,
        "1fa03836e01c862542f8eb83463bb951bebec6fcb3efa28dad748c6b38a9021b",
    ),
];
