//! KMNIST: handwritten Japanese syllables, in the files and sizes of MNIST.

use super::{Counts, File, Files, InputKind, Set, Task, like_mnist};

/// Cursive hiragana: out-of-distribution for digits, and a task of its own.
pub static SET: Set = Set {
    name: "kmnist",
    summary: "Handwritten hiragana, MNIST format",
    task: Task::Classification(&["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]),
    inputs: InputKind::Images { channels: 1, height: 28, width: 28, white: 255 },
    counts: Counts::Parts { train: 60_000, test: 10_000 },
    licence: "CC BY-SA 4.0",
    citation: "Clanuwat, Bober-Irizar, Kitamoto, Lamb, Yamamoto, Ha. Deep learning for classical \
               Japanese literature. arXiv:1812.01718",
    home: "http://codh.rois.ac.jp/kmnist/",
    note: "Checksums of the test files were computed; those of the training files are the ones \
           that other libraries list for the published files.",
    files: Files::Listed(FILES),
    read: like_mnist,
};

const FILES: &[File] = &[
    File::at(
        "kmnist/train-images-idx3-ubyte.gz",
        18_165_135,
        "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4",
        "https://codh.rois.ac.jp/kmnist/dataset/kmnist/train-images-idx3-ubyte.gz",
    ),
    File::at(
        "kmnist/train-labels-idx1-ubyte.gz",
        29_497,
        "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17",
        "https://codh.rois.ac.jp/kmnist/dataset/kmnist/train-labels-idx1-ubyte.gz",
    ),
    File::at(
        "kmnist/t10k-images-idx3-ubyte.gz",
        3_041_136,
        "edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5",
        "https://codh.rois.ac.jp/kmnist/dataset/kmnist/t10k-images-idx3-ubyte.gz",
    ),
    File::at(
        "kmnist/t10k-labels-idx1-ubyte.gz",
        5_120,
        "20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c",
        "https://codh.rois.ac.jp/kmnist/dataset/kmnist/t10k-labels-idx1-ubyte.gz",
    ),
];
