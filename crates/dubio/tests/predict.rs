//! `dubio predict` on the digits that are compiled in, with weights made here.

use std::path::Path;
use std::process::{Command, Output};

use dubio_nn::shape::Shape;
use dubio_nn::{initial, networks, weights};
use dubio_random::stream::Stream;
use serde_json::Value;

fn dubio(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dubio")).args(arguments).output().expect("dubio runs")
}

/// Weights of an untrained network for digits.
fn write_weights(folder: &Path, name: &str, network: &str, seed: u64) -> String {
    let network = networks::build(network, Shape::image(1, 8, 8), 10).expect(network);
    let path = folder.join(name);
    let theta: Vec<f32> = initial::start(&network, &Stream::root(seed));
    let bytes = weights::write(&network, &theta, &initial::rest(&network)).expect("weights");
    std::fs::write(&path, bytes).expect("written");
    path.to_str().expect("a path").to_string()
}

fn scores(file: &str, names: &str) -> Value {
    let output = dubio(&["evaluate", file, "--json", "--no-intervals", "--scores", names]);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn several_weights_are_an_ensemble() {
    let folder = tempfile::tempdir().expect("a folder");
    let a = write_weights(folder.path(), "a.safetensors", "mlp-20", 1);
    let b = write_weights(folder.path(), "b.safetensors", "mlp-20", 2);
    let out = folder.path().join("preds.npz");
    let out = out.to_str().expect("a path");
    let run = |weights: &[&str]| {
        let fixed = ["predict", "--network", "mlp-20", "--data", "digits:test", "-o", out];
        let output = dubio(&[&fixed[..], weights].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        scores(out, "nll,uncertainty.knowledge")
    };
    let single = run(&["--weights", &a]);
    assert_eq!(single["nll"]["n"], 896);
    assert!(single["uncertainty.knowledge"]["value"].is_null());
    let both = run(&["--weights", &a, "--weights", &b]);
    assert!(both["uncertainty.knowledge"]["value"].as_f64().is_some_and(|v| v > 0.0));
    let twice = run(&["--weights", &a, "--weights", &a]);
    assert_eq!(twice["uncertainty.knowledge"]["value"], 0.0);
    let gap = twice["nll"]["value"].as_f64().zip(single["nll"]["value"].as_f64());
    assert!(gap.is_some_and(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn augmented_passes_are_members_and_the_seed_decides_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let weights = write_weights(folder.path(), "a.safetensors", "mlp-20", 1);
    let run = |name: &str, seed: &str| {
        let out = folder.path().join(name);
        let out = out.to_str().expect("a path");
        let output = dubio(&[
            "predict",
            "--network",
            "mlp-20",
            "--weights",
            &weights,
            "--data",
            "digits:test",
            "-o",
            out,
            "--augment",
            "crop,flip",
            "--passes",
            "3",
            "--seed",
            seed,
        ]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("3 members, 896 examples, 10 classes"), "{said}");
        std::fs::read(out).expect("written")
    };
    assert_eq!(run("a.npz", "1"), run("b.npz", "1"));
    assert_ne!(run("a.npz", "1"), run("b.npz", "2"));
}

#[test]
fn what_does_not_fit_is_said_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let weights = write_weights(folder.path(), "a.safetensors", "mlp-20", 1);
    let out = folder.path().join("preds.npz");
    let run = |network: &str, weights: &str, data: &str, more: &[&str]| {
        let fixed = ["predict", "--network", network, "--weights", weights, "--data", data, "-o"];
        let output = dubio(&[&fixed[..], &[out.to_str().expect("a path")], more].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(!out.exists());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let expect = |found: String, parts: &[&str]| {
        for part in parts {
            assert!(found.contains(part), "`{part}` is not in: {found}");
        }
    };
    expect(
        run("mlp-21", &weights, "digits:test", &[]),
        &["a.safetensors", "`fc1.weight`", "[20, 64]"],
    );
    expect(run("mlp20", &weights, "digits:test", &[]), &["no network is called `mlp20`"]);
    expect(run("mlp-20", "nowhere", "digits:test", &[]), &["cannot read nowhere"]);
    expect(run("mlp-20", &weights, "digit:test", &[]), &["digits"]);
    expect(run("mlp-20", &weights, "yacht:all", &[]), &["regression"]);
    expect(
        run("mlp-20", &weights, "digits", &["--normalize", "0.1,0.2/1,1"]),
        &["2 means for images of 1 channels"],
    );
    expect(run("mlp-20", &weights, "digits", &["--normalize", "0.1/0"]), &["above 0"]);
}
