//! A small study of digits in a folder of its own, and what it leaves there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Six runs of a fraction of a second each.
pub(crate) const SUITE: &str = r#"
title = "Small & quick"
data = ["digits"]
networks = ["mlp-20"]
seeds = 2

[evaluate]
ood = ["fashion8:test"]
shifts = ["gaussian_noise"]
severities = [3]

[[methods]]
method = "sgd"
epochs = 30

[[methods]]
method = "swag"
epochs = 20
collect_epochs = 10
collect = 10
samples = 5

[[methods]]
method = "sghmc"
burn_in = 60
samples = 20
lr = 0.01
"#;

/// A folder with the suite `small.toml` in it.
pub(crate) struct Study {
    pub(crate) folder: tempfile::TempDir,
}

impl Study {
    pub(crate) fn new(suite: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("small.toml"), suite).expect("written");
        Self { folder }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dubio"));
        command.args(arguments).current_dir(self.folder.path());
        command
    }

    pub(crate) fn dubio(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("dubio runs")
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let output = self.dubio(&[&["run", "small.toml"], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.folder.path().join("runs")
    }
}

/// Every predictions file of every finished run, by its path inside the folder.
pub(crate) fn predictions(runs: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for run in std::fs::read_dir(runs).expect("runs").map(|e| e.expect("an entry").path()) {
        let name = run.file_name().expect("a name").to_string_lossy().to_string();
        if !run.is_dir() || name.starts_with('.') {
            continue;
        }
        for file in std::fs::read_dir(&run).expect("a run").map(|e| e.expect("an entry").path()) {
            if file.extension().is_some_and(|e| e == "npz") {
                let file_name = file.file_name().expect("a name").to_string_lossy();
                all.insert(format!("{name}/{file_name}"), std::fs::read(&file).expect("read"));
            }
        }
    }
    all
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).to_string()
}
