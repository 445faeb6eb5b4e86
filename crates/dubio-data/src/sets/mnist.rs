//! MNIST: handwritten digits.

use super::{Counts, File, Files, InputKind, Set, Task, like_mnist};

/// Handwritten digits, the first thing everybody tries.
pub static SET: Set = Set {
    name: "mnist",
    summary: "Handwritten digits",
    task: Task::Classification(&["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]),
    inputs: InputKind::Images { channels: 1, height: 28, width: 28, white: 255 },
    counts: Counts::Parts { train: 60_000, test: 10_000 },
    licence: "none stated by its authors; derived from NIST Special Databases 1 and 3",
    citation: "LeCun, Bottou, Bengio, Haffner. Gradient-based learning applied to document \
               recognition. Proceedings of the IEEE 86, 1998",
    home: "http://yann.lecun.com/exdb/mnist/",
    note: "Fetched from a mirror of the original files; their checksums are the published ones.",
    files: Files::Listed(FILES),
    read: like_mnist,
};

const FILES: &[File] = &[
    File::at(
        "mnist/train-images-idx3-ubyte.gz",
        9_912_422,
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "https://storage.googleapis.com/cvdf-datasets/mnist/train-images-idx3-ubyte.gz",
    ),
    File::at(
        "mnist/train-labels-idx1-ubyte.gz",
        28_881,
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "https://storage.googleapis.com/cvdf-datasets/mnist/train-labels-idx1-ubyte.gz",
    ),
    File::at(
        "mnist/t10k-images-idx3-ubyte.gz",
        1_648_877,
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "https://storage.googleapis.com/cvdf-datasets/mnist/t10k-images-idx3-ubyte.gz",
    ),
    File::at(
        "mnist/t10k-labels-idx1-ubyte.gz",
        4_542,
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        "https://storage.googleapis.com/cvdf-datasets/mnist/t10k-labels-idx1-ubyte.gz",
    ),
];
