//! Every method trains a table with nothing set, on networks that are large for it.

use std::path::Path;
use std::process::{Command, Output};

use dubio_infer::methods::CARDS;
use serde_json::Value;

fn dubio(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dubio"));
    command.args(arguments).current_dir(folder).output().expect("dubio runs")
}

/// A method's error on the test set after training with its defaults.
fn rmse(folder: &Path, method: &str, data: &str, seed: &str) -> f64 {
    let train = ["train", method, "--data", data, "--seed", seed, "-o", "out.npz"];
    let output = dubio(folder, &train);
    let said = String::from_utf8_lossy(&output.stderr).to_string();
    assert_eq!(output.status.code(), Some(0), "{method} on {data}, seed {seed}: {said}");
    // Every prediction has these two; draws have no density, and so no nll.
    let output = dubio(folder, &["evaluate", "out.npz", "--scores", "rmse,crps", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{method} on {data}, seed {seed}");
    let scores: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    scores["rmse"]["value"].as_f64().expect("a number")
}

/// 277 examples for the 42 thousand parameters of `mlp`. The targets' standard deviation is 15.1, which is the
/// error of one who has learnt nothing. `hmc` and `nuts`, which refuse what leaps too far, take minutes.
#[test]
fn every_method_learns_from_yacht_with_its_defaults() {
    let folder = tempfile::tempdir().expect("a folder");
    let slow = ["hmc", "nuts"];
    for method in CARDS.iter().map(|card| card.name).filter(|name| !slow.contains(name)) {
        for seed in ["0", "2"] {
            let error = rmse(folder.path(), method, "yacht", seed);
            assert!(error < 12.0, "{method}, seed {seed}: {error}");
        }
    }
}

/// The targets' standard deviations are 16.7 and 0.81.
#[test]
fn ensembles_learn_from_other_tables_with_their_defaults() {
    let folder = tempfile::tempdir().expect("a folder");
    for (data, most) in [("concrete", 8.0), ("wine-quality-red", 0.75)] {
        for method in ["deep-ensemble", "snapshot", "csghmc"] {
            let error = rmse(folder.path(), method, data, "0");
            assert!(error < most, "{method} on {data}: {error}");
        }
    }
}
