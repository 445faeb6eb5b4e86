//! The command line as a user meets it: exit codes, JSON, repeatability, help.

#[allow(dead_code, unused_imports)] // the other tests use the rest of it
mod npy;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn dubio(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dubio")).args(arguments).output().expect("dubio runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn evaluated(arguments: &[&str]) -> Value {
    let file = fixture("ensemble.npz");
    let output =
        dubio(&[&["evaluate", file.to_str().expect("a path"), "--json"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn every_score_has_an_interval_or_a_reason() {
    let scores = evaluated(&[]);
    let scores = scores.as_object().expect("an object");
    assert!(scores.len() > 60);
    for (name, score) in scores {
        assert_eq!(score["n"], 200, "{name}");
        if score["value"].is_null() {
            assert!(score["why"].as_str().is_some_and(|why| !why.is_empty()), "{name}");
        } else {
            let bound = |key: &str| score[key].as_f64().unwrap_or_else(|| panic!("{name} {key}"));
            assert!(bound("lo") <= bound("hi"), "{name}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_for_any_number_of_threads() {
    let file = fixture("ensemble.npz");
    let file = file.to_str().expect("a path");
    let run = |threads: &str, seed: &str| {
        let arguments =
            ["evaluate", file, "--json", "--groups", "--threads", threads, "--seed", seed];
        stdout(&dubio(&arguments))
    };
    assert_eq!(run("1", "7"), run("3", "7"));
    assert_ne!(run("1", "7"), run("1", "8"));
}

/// Multiples of 1/64, which both precisions hold, and levels, which they hold differently.
#[test]
fn files_in_single_and_in_double_precision_give_the_same_scores() {
    let numbers = |salt: usize, count: usize| -> Vec<f64> {
        let number = |i: usize| (i * i * 37 + i * 101 + salt) % 509;
        (0..count).map(|i| number(i) as f64 / 64.0 - 4.0).collect()
    };
    let positive = |salt, count| numbers(salt, count).iter().map(|x| x.abs() + 0.25).collect();
    let labels: Vec<f64> = (0..40).map(|i| (i * 7 % 5) as f64).collect();
    let groups: Vec<f64> = (0..40).map(|i| (i % 3) as f64).collect();
    let levels = vec![0.025, 0.25, 0.5, 0.75, 0.975];
    let wide = |salt| ("logits", vec![3, 40, 5], numbers(salt, 600));
    let targets = || ("targets", vec![40], numbers(4, 40));
    let row = |name, members: usize, salt| (name, vec![members, 40], numbers(salt, members * 40));
    let files = [
        ("classes", vec![wide(1)]),
        ("other", vec![wide(2)]),
        ("reference", vec![wide(3)]),
        ("gaussians", vec![row("mean", 3, 5), ("std", vec![3, 40], positive(6, 120)), targets()]),
        ("samples", vec![row("samples", 9, 7), targets()]),
        ("quantiles", vec![row("quantiles", 5, 8), ("levels", vec![5], levels), targets()]),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str, descr: &str| folder.path().join(name).join(&descr[1..]);
    for (descr, (name, arrays)) in
        ["<f4", "<f8"].into_iter().flat_map(|descr| files.iter().map(move |file| (descr, file)))
    {
        let path = path(name, descr);
        std::fs::create_dir_all(&path).expect("a folder");
        let write = |name: &str, descr: &str, shape: &[usize], values: &[f64]| {
            let bytes = npy::array(descr, shape, values);
            std::fs::write(path.join(format!("{name}.npy")), bytes).expect("written");
        };
        arrays.iter().for_each(|(name, shape, values)| write(name, descr, shape, values));
        write("groups", "<i8", &[40], &groups);
        if arrays[0].0 == "logits" {
            write("labels", "<i8", &[40], &labels);
        }
    }
    std::fs::write(folder.path().join("costs.csv"), "0,1,2,3,4\n4,0,3,1,2\n2,2,2,2,2\n")
        .expect("written");
    let scores = |name: &str, descr: &str| -> Value {
        let text = |path: PathBuf| path.to_str().expect("a path").to_string();
        let file = text(path(name, descr));
        let others = [
            format!("--ood=far={}", text(path("other", descr))),
            format!("--reference={}", text(path("reference", descr))),
            format!("--costs={}", text(folder.path().join("costs.csv"))),
        ];
        let mut arguments = vec!["evaluate", &file, "--json", "--groups"];
        if name == "classes" {
            arguments.extend(others.iter().map(String::as_str));
        }
        let output = dubio(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    for name in ["classes", "gaussians", "samples"] {
        assert_eq!(scores(name, "<f4"), scores(name, "<f8"), "{name}");
    }
    let (single, double) = (scores("quantiles", "<f4"), scores("quantiles", "<f8"));
    for (name, score) in double.as_object().expect("an object") {
        let [a, b] = [score, &single[name]].map(|score| score["value"].as_f64());
        assert_eq!(a.is_some(), b.is_some(), "{name}: {score} became {}", single[name]);
        let gap = a.zip(b).map_or(0.0, |(a, b)| (a - b).abs());
        assert!(gap < 1e-6, "{name}: {score} became {}", single[name]);
    }
}

#[test]
fn a_table_has_a_line_for_every_score() {
    let file = fixture("ensemble.npz");
    let table = stdout(&dubio(&["evaluate", file.to_str().expect("a path"), "--no-intervals"]));
    for name in ["accuracy", "mmce_weighted", "auroc.model", "temperature", "calibrated"] {
        assert!(table.lines().any(|line| line.starts_with(name)), "{name} is not in\n{table}");
    }
}

#[test]
fn a_score_asked_for_by_name_that_has_no_value_makes_the_exit_code_1() {
    let file = fixture("ties.npz"); // one member
    let file = file.to_str().expect("a path");
    let run = |scores: &str| dubio(&["evaluate", file, "--no-intervals", "--scores", scores]);
    let named = run("ece,uncertainty.knowledge");
    assert_eq!(named.status.code(), Some(1));
    assert!(stdout(&named).contains("—") && stdout(&named).contains("needs several members"));
    assert_eq!(run("ece,uncertainty").status.code(), Some(0), "a family does not name it");
}

#[test]
fn only_the_scores_that_are_asked_for_are_printed() {
    let scores =
        evaluated(&["--scores", "ece,calibrated.nll,misclassification.auroc", "--no-intervals"]);
    let names: Vec<&String> = scores.as_object().expect("an object").keys().collect();
    assert_eq!(
        names,
        [
            "ece",
            "misclassification.auroc.confidence",
            "misclassification.auroc.total",
            "misclassification.auroc.model",
            "calibrated.nll"
        ]
    );
}

#[test]
fn a_label_of_probability_zero_makes_the_likelihood_infinite_and_is_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: Vec<u8>| {
        std::fs::write(folder.path().join(name), bytes).expect("written");
    };
    write("probs.npy", npy::array("<f8", &[2, 2], &[1.0, 0.0, 0.25, 0.75]));
    write("labels.npy", npy::array("<i8", &[2], &[1.0, 1.0]));
    let path = folder.path().to_str().expect("a path");
    let output = dubio(&["evaluate", path, "--json", "--scores", "nll,brier"]);
    let scores: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(scores["nll"]["value"], "inf");
    assert_eq!(scores["nll"]["why"], "1 of 2 examples give their label probability 0");
    // By hand: (1 - 0)^2 + (0 - 1)^2 = 2 and 2 * 0.25^2 = 0.125.
    assert_eq!(scores["brier"]["value"], 1.0625);
}

#[test]
fn calibrating_writes_predictions_whose_best_temperature_is_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = fixture("ensemble.npz");
    let file = file.to_str().expect("a path");
    for name in ["out.npz", "out.safetensors", "out"] {
        let out = folder.path().join(name);
        let out = out.to_str().expect("a path");
        let fitted = dubio(&["calibrate", file, "--apply", file, "-o", out, "--json"]);
        assert!(fitted.status.success(), "{}", String::from_utf8_lossy(&fitted.stderr));
        let fitted: Value = serde_json::from_slice(&fitted.stdout).expect("JSON");
        let scores = dubio(&["evaluate", out, "--json", "--no-intervals", "--groups"]);
        let scores: Value = serde_json::from_slice(&scores.stdout).expect("JSON");
        let before = evaluated(&[
            "--scores",
            "temperature,accuracy,group.3.accuracy",
            "--groups",
            "--no-intervals",
        ]);
        let gap = fitted["temperature"].as_f64().zip(before["temperature"]["value"].as_f64());
        assert!(gap.is_some_and(|(a, b)| (a - b).abs() < 1e-9));
        let after = scores["temperature"]["value"].as_f64().expect("a number");
        assert!((after - 1.0).abs() < 1e-5, "{name}: {after}");
        for kept in ["accuracy", "group.3.accuracy"] {
            assert_eq!(scores[kept]["value"], before[kept]["value"], "{name} {kept}");
        }
    }
}

#[test]
fn calibrating_each_member_keeps_the_members() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = fixture("ensemble.npz");
    let file = file.to_str().expect("a path");
    let out = folder.path().join("out.npz");
    let out = out.to_str().expect("a path");
    let fitted = dubio(&["calibrate", file, "--per-member", "--apply", file, "-o", out, "--json"]);
    let fitted: Value = serde_json::from_slice(&fitted.stdout).expect("JSON");
    assert_eq!(fitted["temperature"].as_array().map(Vec::len), Some(3));
    let scores = dubio(&["evaluate", out, "--json", "--no-intervals", "--scores", "uncertainty"]);
    let scores: Value = serde_json::from_slice(&scores.stdout).expect("JSON");
    assert!(scores["uncertainty.knowledge"]["value"].as_f64().is_some_and(|v| v > 0.0));
    // Each written member is at its own best temperature.
    let again = dubio(&["calibrate", out, "--per-member", "--json"]);
    let again: Value = serde_json::from_slice(&again.stdout).expect("JSON");
    for temperature in again["temperature"].as_array().expect("a list") {
        assert!(temperature.as_f64().is_some_and(|t| (t - 1.0).abs() < 1e-5), "{temperature}");
    }
}

#[test]
fn every_listed_score_can_be_explained() {
    let cards: Value =
        serde_json::from_slice(&dubio(&["list", "scores", "--json"]).stdout).expect("JSON");
    let cards = cards.as_array().expect("a list");
    assert!(cards.len() > 60);
    for card in cards {
        let name = card["name"].as_str().expect("a name");
        let text = stdout(&dubio(&["explain", name]));
        for part in ["formula", "range", "better", "source"] {
            assert!(text.contains(part), "{name} has no {part}");
        }
        assert!(stdout(&dubio(&["list", "scores"])).contains(name));
    }
    for (other, plain) in
        [("NLL", "nll"), ("Calibrated.NLL", "calibrated.nll"), ("MC_Dropout", "mc-dropout")]
    {
        assert_eq!(
            stdout(&dubio(&["explain", other])),
            stdout(&dubio(&["explain", plain])),
            "{other}"
        );
    }
    let unknown = dubio(&["explain", "eec"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("did you mean `ece`"));
}

#[test]
fn networks_and_shifts_are_listed_with_their_sources() {
    for (what, name) in [("networks", "resnetN-cifar"), ("shifts", "jpeg_compression")] {
        assert!(stdout(&dubio(&["list", what])).contains(name));
        let cards: Value =
            serde_json::from_slice(&dubio(&["list", what, "--json"]).stdout).expect("JSON");
        let cards = cards.as_array().expect("a list");
        assert!(cards.iter().any(|card| card["name"] == name));
        assert!(cards.iter().all(|card| card["citation"].as_str().is_some_and(|c| !c.is_empty())));
    }
}

#[test]
fn curves_are_written_as_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let curves = folder.path().join("curves.json");
    evaluated(&["--scores", "aurc", "--curves", curves.to_str().expect("a path")]);
    let curves: Value =
        serde_json::from_str(&std::fs::read_to_string(curves).expect("a file")).expect("JSON");
    let count: u64 = curves["reliability"]
        .as_array()
        .expect("bins")
        .iter()
        .filter_map(|bin| bin["count"].as_u64())
        .sum();
    assert_eq!(count, 200);
    let last = curves["risk_coverage"].as_array().and_then(|points| points.last()).expect("points");
    assert_eq!(last[0], 1.0);
    let error = evaluated(&["--scores", "error", "--no-intervals"])["error"]["value"].as_f64();
    assert!(last[1].as_f64().zip(error).is_some_and(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn the_version_says_what_the_program_was_built_with() {
    let output = Command::new(env!("CARGO_BIN_EXE_dubio")).arg("--version").output().expect("runs");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.starts_with(&format!("dubio {}\n", env!("CARGO_PKG_VERSION"))), "{text}");
    assert!(text.contains("built with rustc ") && text.contains("features: "), "{text}");
    let target = format!("for {}-", std::env::consts::ARCH);
    assert!(text.contains(&target), "{text}");
}
