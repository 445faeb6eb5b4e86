//! `dubio diagnose` as a user meets it.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn dubio(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dubio")).args(arguments).output().expect("dubio runs")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Two chains of a few short steps from random weights: far from converged, and told so.
#[test]
fn chains_that_have_not_converged_are_told_by_training_and_by_diagnose() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, record) = (folder.path().join("hmc.npz"), folder.path().join("record.json"));
    let settings = ["members=2", "burn_in=2", "samples=10", "leapfrog=3", "step=0.001"];
    let set = settings.iter().flat_map(|setting| ["--set", setting]);
    let fixed = ["train", "hmc", "--data", "digits", "--network", "mlp-10", "-o", text(&file)];
    let all: Vec<&str> = fixed.into_iter().chain(set).chain(["--record", text(&record)]).collect();
    let trained = dubio(&all);
    assert!(trained.status.success(), "{}", said(&trained));
    let warned = said(&trained);
    assert!(
        warned.contains("warning: the chains have not converged: R-hat is above 1."),
        "{warned}"
    );
    let record: Value =
        serde_json::from_slice(&std::fs::read(&record).expect("a record")).expect("JSON");
    assert_eq!(record["convergence"]["chains"], 2);

    let output = dubio(&["diagnose", text(&file), "--chains", "2", "--json"]);
    assert!(output.status.success(), "{}", said(&output));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for field in ["chains", "draws", "predictions", "loss"] {
        assert_eq!(found[field], record["convergence"][field], "{field}");
    }
    assert_eq!((&found["draws"], &found["predictions"]["quantities"]), (&10.into(), &896.into()));
    assert!(found["loss"]["rhat"].as_f64().expect("a number") > 1.1, "{found}");

    let output = dubio(&["diagnose", text(&file), "--chains", "2"]);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        table.contains("2 chains of 10 draws") && table.contains("predictions, worst"),
        "{table}"
    );
    assert!(said(&output).contains("warning: the chains have not converged"), "{}", said(&output));
}

#[test]
fn members_that_are_no_chains_of_one_length_are_refused() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ensemble.npz");
    let output = dubio(&["diagnose", text(&fixture), "--chains", "1000"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("cannot be 1000 chains of one length"), "{}", said(&output));
}
