//! The walls between the crates: who may depend on whom, and what the scores may not touch.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn workspace() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

/// The crates of ours that a crate depends on, other than for its tests.
fn own_dependencies(package: &Value) -> Vec<&str> {
    let all = package["dependencies"].as_array().into_iter().flatten();
    let used = all.filter(|dependency| dependency["kind"].is_null());
    used.filter_map(|d| d["name"].as_str()).filter(|name| name.starts_with("dubio")).collect()
}

#[test]
fn crates_depend_only_on_what_stands_above_them() {
    let metadata = workspace();
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() >= 3);
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let allowed: &[&str] = match name {
            "dubio-random" | "dubio-words" | "dubio-progress" => &[],
            "dubio-metrics" => &["dubio-random", "dubio-progress"],
            "dubio-predictions" => &["dubio-metrics"],
            "dubio-nn" => &["dubio-random", "dubio-words"],
            "dubio-data" => &["dubio-random", "dubio-words", "dubio-predictions"],
            "dubio-infer" => &[
                "dubio-random",
                "dubio-words",
                "dubio-progress",
                "dubio-predictions",
                "dubio-data",
                "dubio-nn",
            ],
            "dubio-bench" => &[
                "dubio-random",
                "dubio-words",
                "dubio-progress",
                "dubio-metrics",
                "dubio-predictions",
                "dubio-data",
                "dubio-nn",
                "dubio-infer",
            ],
            "dubio-report" => &["dubio-random", "dubio-metrics"],
            "dubio-api" => &[
                "dubio-random",
                "dubio-words",
                "dubio-progress",
                "dubio-metrics",
                "dubio-predictions",
                "dubio-data",
                "dubio-bench",
                "dubio-report",
            ],
            "dubio" => &[
                "dubio-random",
                "dubio-words",
                "dubio-progress",
                "dubio-metrics",
                "dubio-predictions",
                "dubio-data",
                "dubio-nn",
                "dubio-infer",
                "dubio-bench",
                "dubio-report",
                "dubio-api",
            ],
            "dubio-python" => &[
                "dubio-random",
                "dubio-words",
                "dubio-progress",
                "dubio-predictions",
                "dubio-data",
                "dubio-nn",
                "dubio-infer",
                "dubio-bench",
                "dubio-report",
                "dubio-api",
            ],
            _ => panic!("say here which crates {name} may depend on"),
        };
        for dependency in own_dependencies(package) {
            assert!(allowed.contains(&dependency), "{name} must not depend on {dependency}");
        }
    }
}

/// The library under the binary is called by others, too, which have no terminal.
#[test]
fn what_commands_do_needs_no_command_line_and_no_terminal() {
    let metadata = workspace();
    let packages = metadata["packages"].as_array().expect("packages");
    let api = packages.iter().find(|package| package["name"] == "dubio-api").expect("the library");
    let used = api["dependencies"].as_array().into_iter().flatten();
    let names: Vec<&str> = used.filter_map(|dependency| dependency["name"].as_str()).collect();
    assert!(names.contains(&"serde"));
    for forbidden in ["clap", "indicatif", "ctrlc", "anyhow"] {
        assert!(!names.contains(&forbidden), "dubio-api must not depend on {forbidden}");
    }
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../dubio-api/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source");
            for forbidden in ["print!", "println!", "stdout", "stderr", "process::exit"] {
                assert!(!text.contains(forbidden), "{} uses {forbidden}", path.display());
            }
        }
    }
}

/// What a network is says nothing of the numbers it is run with, nor of who runs it.
#[test]
fn networks_are_described_without_numbers_and_without_kernels() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dubio-nn/src");
    let mut files =
        ["layer.rs", "parameter.rs", "network.rs"].map(|name| sources.join(name)).to_vec();
    for folder in ["network", "networks"] {
        let entries = std::fs::read_dir(sources.join(folder)).expect("a folder");
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    assert!(files.len() > 10);
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a source");
        for forbidden in ["f32", "Real", "crate::cpu"] {
            assert!(!text.contains(forbidden), "{} names {forbidden}", path.display());
        }
    }
}

/// Where vectors live is an engine's business, so that a GPU's can stand beside the CPU's.
#[test]
fn outside_their_crate_nobody_knows_how_vectors_are_stored() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut seen = 0;
    for name in ["dubio-infer", "dubio-bench", "dubio"] {
        for (path, text) in sources(&crates.join(name).join("src")) {
            for forbidden in ["dubio_nn::cpu", "Cpu<", "Flat<", "Flat("] {
                assert!(!text.contains(forbidden), "{} names {forbidden}", path.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 60);
}

/// The sources in a folder and those below it.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(sources(&path));
        } else {
            let text = std::fs::read_to_string(&path).expect("a source");
            all.push((path, text));
        }
    }
    all
}

#[test]
fn scores_touch_no_file_no_clock_and_no_environment() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut seen = 0;
    for name in ["dubio-metrics/src", "dubio-random/src"] {
        for (path, text) in sources(&crates.join(name)) {
            for forbidden in ["std::fs", "std::time", "std::env", "thread_rng", "rand::rng"] {
                assert!(!text.contains(forbidden), "{} uses {forbidden}", path.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 40);
}

/// Packages and their features, as cargo resolves them for these packages alone.
fn features(packages: &[&str]) -> Vec<String> {
    let how = ["tree", "--offline", "--edges", "normal,build", "--prefix", "none", "-f", "{p} {f}"];
    let output = Command::new(env!("CARGO"))
        .args(how)
        .args(packages.iter().flat_map(|package| ["-p", package]))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| line.trim_end_matches(" (*)").to_string()).collect()
}

/// `python/build_wheel.py` builds both together, then the extension alone. Where a feature differs, everything that depends
/// on that crate is built again.
#[test]
fn building_the_wheel_builds_nothing_twice() {
    let both = features(&["dubio", "dubio-python"]);
    let extension = features(&["dubio-python"]);
    assert!(extension.len() > 100, "{extension:?}");
    let again: Vec<&String> = extension.iter().filter(|line| !both.contains(line)).collect();
    assert!(again.is_empty(), "give python/Cargo.toml the features of the command line: {again:?}");
}
