//! CIFAR-100: small photographs of a hundred kinds of things.

use std::path::Path;

use super::{Archive, Counts, File, Files, InputKind, Part, Set, Size, Task};
use crate::dataset::Dataset;
use crate::error::Error;
use crate::formats::{cifar, open};

/// The fine classes; the group `coarse` holds the superclasses, 0 to 19.
pub static SET: Set = Set {
    name: "cifar-100",
    summary: "Small colour photographs, 100 classes",
    task: Task::Classification(CLASSES),
    inputs: InputKind::Images { channels: 3, height: 32, width: 32, white: 255 },
    counts: Counts::Parts { train: 50_000, test: 10_000 },
    licence: "none stated by its authors; they ask to be cited",
    citation: "Krizhevsky. Learning multiple layers of features from tiny images. Technical \
               report, University of Toronto, 2009",
    home: "https://www.cs.toronto.edu/~kriz/cifar.html",
    note: "Checksums are the ones that other libraries list for the published archive and its \
           members; they were not computed here.",
    files: Files::Listed(FILES),
    read,
};

static ARCHIVE: Archive = Archive {
    url: "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
    size: Size::AtMost(200_000_000),
    sha256: Some("58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"),
};

const FILES: &[File] = &[
    File::inside(
        "cifar-100/train.bin",
        50_000 * 3_074,
        Some("f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29"),
        &ARCHIVE,
        "cifar-100-binary/train.bin",
    ),
    File::inside(
        "cifar-100/test.bin",
        10_000 * 3_074,
        Some("d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a"),
        &ARCHIVE,
        "cifar-100-binary/test.bin",
    ),
];

fn read(_: &Set, root: &Path, part: Part) -> Result<Dataset, Error> {
    let path = root.join(format!("cifar-100/{part}.bin"));
    cifar::read(&path, &open(&path)?, cifar::Layout::Hundred)
}

#[rustfmt::skip]
const CLASSES: &[&str] = &[
    "apple", "aquarium fish", "baby", "bear", "beaver", "bed", "bee", "beetle", "bicycle",
    "bottle", "bowl", "boy", "bridge", "bus", "butterfly", "camel", "can", "castle",
    "caterpillar", "cattle", "chair", "chimpanzee", "clock", "cloud", "cockroach", "couch",
    "crab", "crocodile", "cup", "dinosaur", "dolphin", "elephant", "flatfish", "forest", "fox",
    "girl", "hamster", "house", "kangaroo", "keyboard", "lamp", "lawn mower", "leopard", "lion",
    "lizard", "lobster", "man", "maple tree", "motorcycle", "mountain", "mouse", "mushroom",
    "oak tree", "orange", "orchid", "otter", "palm tree", "pear", "pickup truck", "pine tree",
    "plain", "plate", "poppy", "porcupine", "possum", "rabbit", "raccoon", "ray", "road",
    "rocket", "rose", "sea", "seal", "shark", "shrew", "skunk", "skyscraper", "snail", "snake",
    "spider", "squirrel", "streetcar", "sunflower", "sweet pepper", "table", "tank", "telephone",
    "television", "tiger", "tractor", "train", "trout", "tulip", "turtle", "wardrobe", "whale",
    "willow tree", "wolf", "woman", "worm",
];
