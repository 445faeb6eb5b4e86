//! CIFAR-10: small photographs of ten kinds of things.

use std::path::Path;

use super::{Archive, Counts, File, Files, InputKind, Part, Set, Size, Task};
use crate::dataset::Dataset;
use crate::error::Error;
use crate::formats::{cifar, open};

/// Small photographs, the set that most papers on uncertainty use.
pub static SET: Set = Set {
    name: "cifar-10",
    summary: "Small colour photographs, 10 classes",
    task: Task::Classification(&[
        "airplane",
        "automobile",
        "bird",
        "cat",
        "deer",
        "dog",
        "frog",
        "horse",
        "ship",
        "truck",
    ]),
    inputs: InputKind::Images { channels: 3, height: 32, width: 32, white: 255 },
    counts: Counts::Parts { train: 50_000, test: 10_000 },
    licence: "none stated by its authors; they ask to be cited",
    citation: "Krizhevsky. Learning multiple layers of features from tiny images. Technical \
               report, University of Toronto, 2009",
    home: "https://www.cs.toronto.edu/~kriz/cifar.html",
    note: "Checksums of the batches were computed from batches rebuilt from a lossless copy as \
           PNG; they are the same as other libraries list for the members of the published \
           archive, whose own checksum is taken from those lists.",
    files: Files::Listed(FILES),
    read,
};

static ARCHIVE: Archive = Archive {
    url: "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    size: Size::Exactly(170_052_171),
    sha256: Some("c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"),
};

const fn batch(path: &'static str, sha256: &'static str, member: &'static str) -> File {
    File::inside(path, 30_730_000, Some(sha256), &ARCHIVE, member)
}

#[rustfmt::skip]
const FILES: &[File] = &[
    batch("cifar-10/data_batch_1.bin", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5", "cifar-10-batches-bin/data_batch_1.bin"),
    batch("cifar-10/data_batch_2.bin", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed", "cifar-10-batches-bin/data_batch_2.bin"),
    batch("cifar-10/data_batch_3.bin", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67", "cifar-10-batches-bin/data_batch_3.bin"),
    batch("cifar-10/data_batch_4.bin", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48", "cifar-10-batches-bin/data_batch_4.bin"),
    batch("cifar-10/data_batch_5.bin", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add", "cifar-10-batches-bin/data_batch_5.bin"),
    batch("cifar-10/test_batch.bin", "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b", "cifar-10-batches-bin/test_batch.bin"),
];

fn read(_: &Set, root: &Path, part: Part) -> Result<Dataset, Error> {
    let names: &[&str] = match part {
        Part::Train => {
            &["data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"]
        }
        _ => &["test_batch"],
    };
    let mut batches = names.iter().map(|name| {
        let path = root.join(format!("cifar-10/{name}.bin"));
        cifar::read(&path, &open(&path)?, cifar::Layout::Ten)
    });
    let first = batches.next().unwrap_or_else(|| unreachable!("every part has a batch"))?;
    batches.try_fold(first, |mut all, batch| {
        all.append(batch?);
        Ok(all)
    })
}
