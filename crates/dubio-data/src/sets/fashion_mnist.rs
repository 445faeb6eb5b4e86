//! Fashion-MNIST: clothes, in the files and sizes of MNIST.

use std::borrow::Cow;

use super::{Counts, File, Files, InputKind, Measured, Origin, Set, Size, Task, like_mnist};

/// Names of the classes, also used by the shrunk sample `fashion8`.
pub(super) const CLASSES: &[&str] = &[
    "t-shirt/top",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
];

/// Whom to cite, also for the shrunk sample `fashion8`.
pub(super) const CITATION: &str = "Xiao, Rasul, Vollgraf. Fashion-MNIST: a novel image dataset \
                                   for benchmarking machine learning algorithms. arXiv:1708.07747";

/// Clothes, harder than digits.
pub static SET: Set = Set {
    name: "fashion-mnist",
    summary: "Clothing images, MNIST format",
    task: Task::Classification(CLASSES),
    inputs: InputKind::Images { channels: 1, height: 28, width: 28, white: 255 },
    counts: Counts::Parts { train: 60_000, test: 10_000 },
    licence: "MIT",
    citation: CITATION,
    home: "https://github.com/zalandoresearch/fashion-mnist",
    note: "Checksums are of the unpacked files: Debian's package and the repository pack the same \
           data with different gzip headers.",
    files: Files::Listed(FILES),
    read: like_mnist,
};

const fn file(path: &'static str, size: u64, sha256: &'static str, url: &'static str) -> File {
    File {
        path: Cow::Borrowed(path),
        measured: Measured::Unpacked,
        size: Size::Exactly(size),
        sha256: Some(Cow::Borrowed(sha256)),
        origin: Origin::Address(Cow::Borrowed(url)),
    }
}

const FILES: &[File] = &[
    file(
        "fashion-mnist/train-images-idx3-ubyte.gz",
        47_040_016,
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/train-images-idx3-ubyte.gz",
    ),
    file(
        "fashion-mnist/train-labels-idx1-ubyte.gz",
        60_008,
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/train-labels-idx1-ubyte.gz",
    ),
    file(
        "fashion-mnist/t10k-images-idx3-ubyte.gz",
        7_840_016,
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/t10k-images-idx3-ubyte.gz",
    ),
    file(
        "fashion-mnist/t10k-labels-idx1-ubyte.gz",
        10_008,
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/t10k-labels-idx1-ubyte.gz",
    ),
];
