//! Every reader of untrusted bytes: any bytes, never a panic, never memory beyond what they hold.
//! The first byte says which reader gets the rest.
//!
//! `cargo fuzz run readers -- -max_total_time=60 -rss_limit_mb=512`

#![no_main]

use std::path::Path;

use dubio_data::formats::cifar::{self, Layout};
use dubio_data::formats::{idx, mat, images, stl10, table};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&which, bytes)) = data.split_first() else { return };
    let path = Path::new("fuzzed");
    match which % 7 {
        0 => drop(idx::read(path, bytes)),
        1 => drop(mat::read(path, bytes)),
        2 => drop(cifar::read(path, bytes, Layout::Ten)),
        3 => drop(cifar::read(path, bytes, Layout::Hundred)),
        4 => {
            let (images, labels) = bytes.split_at(bytes.len() / 27_649 * 27_648);
            drop(stl10::read((path, images), (path, labels)));
        }
        5 => {
            drop(table::read(path, bytes));
            drop(table::read_indices(path, bytes, 1000));
        }
        _ => drop(images::decode(path, bytes)),
    }
});
