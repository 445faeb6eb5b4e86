//! A digest of the code that turns predictions into scores, so that what another build has kept is not believed.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Crates whose code scores and views depend on, besides this one.
const CRATES: [&str; 6] = [
    "dubio-random",
    "dubio-metrics",
    "dubio-predictions",
    "dubio-bench",
    "dubio-report",
    "dubio-api",
];

fn main() {
    // Versions stand for the sources where those are not beside this crate.
    let mut hasher = DefaultHasher::new();
    env::var("CARGO_PKG_VERSION").unwrap_or_default().hash(&mut hasher);
    let crates = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    let mut places: Vec<PathBuf> =
        CRATES.map(|name| crates.join(name).join("src")).into_iter().collect();
    places.push(crates.join("../Cargo.lock"));
    for place in places {
        println!("cargo::rerun-if-changed={}", place.display());
        digest(&place, &mut hasher);
    }
    println!("cargo::rustc-env=DUBIO_SCORING={:016x}", hasher.finish());
}

/// Adds a file, or all files of a folder in the order of their names.
fn digest(place: &Path, hasher: &mut DefaultHasher) {
    if let Ok(entries) = fs::read_dir(place) {
        let mut inside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        inside.sort();
        inside.iter().for_each(|path| digest(path, hasher));
    } else if let Ok(bytes) = fs::read(place) {
        place.file_name().hash(hasher);
        bytes.hash(hasher);
    }
}
