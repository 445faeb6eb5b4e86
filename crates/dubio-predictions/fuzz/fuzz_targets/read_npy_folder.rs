//! Any bytes as a folder of `.npy` files: no checksum stands between the fuzzer and the headers.
//!
//! The input is cut in front of every magic word, so that `cat` of some `.npy` files is a seed.
//! A byte per file before the first of them chooses the names; without, they are those of a folder
//! of class predictions that dubio writes, in alphabetical order.
#![no_main]

const MAGIC: &[u8] = b"\x93NUMPY";
const NAMES: [&str; 11] = [
    "labels",
    "log_probs",
    "groups.a",
    "logits",
    "probs",
    "mean",
    "std",
    "samples",
    "quantiles",
    "levels",
    "targets",
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let folder = dubio_predictions_fuzz::place("folder");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).expect("a full disk is no finding");
    let mut cuts: Vec<usize> =
        (0..bytes.len()).filter(|&at| bytes[at..].starts_with(MAGIC)).take(NAMES.len()).collect();
    cuts.push(bytes.len());
    for (index, cut) in cuts.windows(2).enumerate() {
        let chosen = if index < cuts[0] { usize::from(bytes[index]) } else { index };
        let name = NAMES[chosen % NAMES.len()];
        std::fs::write(folder.join(format!("{name}.npy")), &bytes[cut[0]..cut[1]])
            .expect("a full disk is no finding");
    }
    dubio_predictions_fuzz::read(&folder);
});
