//! Small files scored by an independent plain implementation (`fixtures/make.py`, numpy and scipy).

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("the fixture is there");
    serde_json::from_str(&text).expect("the fixture is JSON")
}

fn evaluate(file: &str, arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_dubio"))
        .arg("evaluate")
        .arg(fixture(file))
        .args(arguments)
        .args(["--json", "--no-intervals"])
        .output()
        .expect("dubio runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("dubio prints JSON")
}

/// Every expected score to nine digits, and null where the score is undefined.
fn agrees(scores: &Value, expected: &str) {
    let expected = json(&fixture(expected));
    let expected = expected.as_object().expect("an object");
    assert!(!expected.is_empty());
    for (name, value) in expected {
        let found = &scores[name];
        assert!(found.is_object(), "{name} is missing");
        match (found["value"].as_f64(), value.as_f64()) {
            (Some(found), Some(value)) => {
                let gap = (found - value).abs();
                assert!(gap <= 1e-9 * value.abs().max(1.0), "{name}: {found}, not {value}");
            }
            (None, None) => assert!(found["why"].is_string(), "{name} does not say why"),
            (found, value) => panic!("{name}: {found:?}, not {value:?}"),
        }
    }
}

#[test]
fn an_ensemble_with_groups_and_costs() {
    let costs = fixture("ensemble.costs.csv");
    let costs = costs.to_str().expect("a path");
    agrees(&evaluate("ensemble.npz", &["--groups", "--costs", costs]), "ensemble.expected.json");
}

#[test]
fn another_number_of_bins() {
    agrees(&evaluate("ensemble.npz", &["--bins", "10"]), "ensemble.bins10.json");
}

#[test]
fn heavy_ties_with_values_on_the_edges_of_bins() {
    agrees(&evaluate("ties.npz", &[]), "ties.expected.json");
    agrees(&evaluate("ties.npz", &["--bins", "4"]), "ties.bins4.json");
}

#[test]
fn every_named_convention_of_bin_edges() {
    for (file, expected, bins) in
        [("ensemble.npz", "ensemble.edges.json", "15"), ("ties.npz", "ties.edges4.json", "4")]
    {
        let expected = json(&fixture(expected));
        for (edges, value) in expected.as_object().expect("an object") {
            let scores = evaluate(file, &["--scores", "ece", "--bins", bins, "--ece-edges", edges]);
            let gap = scores["ece"]["value"].as_f64().zip(value.as_f64()).map(|(a, b)| a - b);
            assert!(gap.is_some_and(|gap| gap.abs() < 1e-12), "{file} {edges}: {scores}");
        }
    }
}

#[test]
fn detection_of_another_set() {
    let far = format!("far={}", fixture("ensemble-ood.npz").display());
    agrees(&evaluate("ensemble.npz", &["--ood", &far]), "ensemble.ood.json");
}

#[test]
fn a_reference() {
    let reference = fixture("ensemble-reference.npz");
    let reference = reference.to_str().expect("a path");
    agrees(&evaluate("ensemble.npz", &["--reference", reference]), "ensemble.reference.json");
}

#[test]
fn calibrated_likelihood_is_within_the_spread_of_its_random_splits() {
    let expected = json(&fixture("ensemble.calibrated.json"));
    let number = |key: &str| expected[key].as_f64().expect("a number");
    let (mean, spread) = (number("calibrated.nll"), number("calibrated.nll.std_of_five"));
    for seed in ["0", "1", "2", "3"] {
        let scores = evaluate("ensemble.npz", &["--scores", "calibrated.nll", "--seed", seed]);
        let found = scores["calibrated.nll"]["value"].as_f64().expect("a number");
        assert!((found - mean).abs() < 4.0 * spread, "{found}, not {mean} +- {spread}");
    }
}

#[test]
fn gaussian_members_draws_and_quantiles() {
    for name in ["gaussians", "gaussian", "samples", "quantiles"] {
        let scores = evaluate(&format!("{name}.npz"), &[]);
        agrees(&scores, &format!("{name}.expected.json"));
    }
}
