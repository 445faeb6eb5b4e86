//! `dubio compare` as a user meets it.

#[allow(dead_code, unused_imports)] // the other tests use the rest of it
mod npy;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn fixture(name: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    path.to_str().expect("a path").to_string()
}

fn compare(files: &[&str], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dubio"));
    command.arg("compare").args(files).args(arguments).output().expect("dubio runs")
}

fn json(files: &[&str], arguments: &[&str]) -> Value {
    let output = compare(files, &[&["--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn three() -> [String; 3] {
    // The second is the first again.
    [fixture("ensemble.npz"), fixture("ensemble.npz"), fixture("ensemble-reference.npz")]
}

#[test]
fn files_are_ranked_with_paired_differences_and_what_may_not_be_compared() {
    let files = three();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let found = json(&files, &["--names", "A,B,C", "--resamples", "200"]);
    let ranking = &found["ranking"];
    assert_eq!(ranking["score"], "calibrated.nll");
    let ranks: Vec<(&str, u64)> = ranking["ranks"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|own| (own["method"].as_str().expect("a name"), own["rank"].as_u64().expect("a rank")))
        .collect();
    assert_eq!(ranks, [("A", 1), ("B", 1), ("C", 3)]);
    let same = &ranking["differences"][0];
    assert_eq!((&same["a"], &same["b"], &same["value"]), (&"A".into(), &"B".into(), &0.0.into()));
    assert_eq!(
        (&same["lo"], &same["hi"], &same["told_apart"]),
        (&0.0.into(), &0.0.into(), &false.into())
    );
    let groups = ranking["cannot_be_told_apart"].as_array().expect("a list");
    assert!(groups[0].as_array().is_some_and(|group| group.len() >= 2), "{groups:?}");
    for key in ["over_bins", "over_temperatures"] {
        for own in found[key].as_array().expect("a list") {
            let settings = own["settings"].as_array().expect("a list").len();
            for name in ["A", "B", "C"] {
                assert_eq!(own["values"][name].as_array().map(Vec::len), Some(settings), "{key}");
            }
            let flips = own["flips"].as_array().expect("a list").len();
            assert_eq!(own["stable"], flips == 0);
        }
    }
    let bins = found["over_bins"][0]["settings"].as_array().expect("a list");
    assert_eq!((bins[0].as_f64(), bins.last().and_then(Value::as_f64)), (Some(5.0), Some(50.0)));
    let correlation = &found["correlations"][0];
    assert_eq!(correlation["n"], 3);
    let cautions = found["may_not_be_compared"].as_array().expect("a list");
    let unequal = cautions.iter().any(|caution| {
        caution["what"] == "unequal numbers of forward passes: A 3, B 3, C 1"
            && caution["reference"].as_str().is_some_and(|text| text.starts_with("Ashukha"))
    });
    assert!(unequal, "{cautions:?}");
    let text = String::from_utf8(compare(&files, &["--names", "A,B,C"]).stdout).expect("text");
    for part in [
        "rank  method",
        "behind the best",
        "no difference in calibrated.nll beyond chance",
        "number of bins changes from 5 to 50",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn equal_numbers_of_members_take_the_caution_away() {
    let [a, _, c] = three();
    let found = json(&[&a, &c], &["--members", "1", "--scores", "accuracy", "--resamples", "20"]);
    let cautions = found["may_not_be_compared"].as_array().expect("a list");
    let unequal = |caution: &Value| caution["what"].as_str().is_some_and(|w| w.contains("passes"));
    assert!(!cautions.iter().any(unequal), "{cautions:?}");
    let scores: Vec<&String> = found["scores"].as_object().expect("an object").keys().collect();
    assert_eq!(scores, ["accuracy", "calibrated.nll"]);
    assert_eq!(compare(&[&a, &c], &["--members", "2"]).status.code(), Some(2));
}

#[test]
fn what_misleads_is_refused_with_the_reason_and_the_reference() {
    let [a, _, c] = three();
    for (score, reason) in [
        ("nll", "rank by `calibrated.nll` (Ashukha et al. 2020, sec. 3.1)"),
        ("misclassification.auroc.total", "each model has its own errors to detect"),
    ] {
        let output = compare(&[&a, &c], &["--score", score]);
        assert_eq!(output.status.code(), Some(2), "{score}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(reason) && message.contains("is refused"), "{message}");
    }
    // As one of several scores it is left out, and that is said.
    let found =
        json(&[&a, &c], &["--scores", "brier,misclassification.auroc", "--resamples", "20"]);
    assert!(found["scores"].get("misclassification.auroc.total").is_none());
    let told = found["may_not_be_compared"].as_array().expect("a list").iter();
    assert!(told.map(|c| c["what"].to_string()).any(|what| what.contains("misclassification")));
}

/// The order by a binned score that flips between 5 and 50 bins is not given; exit code 1.
#[test]
fn a_ranking_that_flips_with_the_number_of_bins_is_refused() {
    let [a, _, c] = three();
    let steady = compare(&[&a, &c], &["--score", "ece", "--resamples", "20"]);
    assert_eq!(steady.status.code(), Some(0));
    let flips = compare(&[&a, &c], &["--score", "ace", "--resamples", "20"]);
    assert_eq!(flips.status.code(), Some(1));
    let text = String::from_utf8(flips.stdout).expect("text");
    assert!(text.starts_with("no ranking by ace: see below"), "{text}");
    assert!(text.contains("the order depends on the number of bins"), "{text}");
}

#[test]
fn regressions_are_compared_by_their_likelihood() {
    let (a, b) = (fixture("gaussians.npz"), fixture("gaussian.npz"));
    let found = json(&[&a, &b], &["--resamples", "50"]);
    assert_eq!(found["ranking"]["score"], "nll");
    assert!(found["scores"]["crps"]["gaussian"]["value"].is_f64());
}

/// Draws have no density, so that one of the two has no `nll`: they are ranked by `crps`, which both have.
#[test]
fn a_gaussian_and_draws_are_ranked_by_a_score_that_both_have() {
    let folder = tempfile::tempdir().expect("a folder");
    let n = 40;
    let write = |name: &str, arrays: &[(&str, Vec<f64>)]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        for (array, values) in arrays {
            let shape = if values.len() == n { vec![n] } else { vec![values.len() / n, n] };
            std::fs::write(path.join(format!("{array}.npy")), npy::array("<f8", &shape, values))
                .expect("written");
        }
        path.to_str().expect("a path").to_string()
    };
    let targets: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let draws: Vec<f64> = (0..5 * n).map(|i| targets[i % n] + (i / n) as f64 / 4.0).collect();
    let truth = || ("targets", targets.clone());
    let a = write("gaussian", &[("mean", vec![0.0; n]), ("std", vec![1.0; n]), truth()]);
    let b = write("samples", &[("samples", draws), truth()]);
    let text = String::from_utf8(compare(&[&a, &b], &["--resamples", "200"]).stdout).expect("text");
    let why = "ranked by crps, which every file has: samples has no nll (draws have no density";
    assert!(text.contains(why), "{text}");
    assert!(text.contains("   1  ") && text.contains("   2  "), "both are ranked\n{text}");
    let found = json(&[&a, &b], &["--resamples", "50"]);
    assert_eq!(found["ranking"]["score"], "crps");
    assert_eq!(found["ranking"]["ranks"].as_array().map(Vec::len), Some(2));
    // Asked for by name, `nll` is kept, and nothing is said of what cannot be compared.
    let text = String::from_utf8(compare(&[&a, &b], &["--score", "nll"]).stdout).expect("text");
    assert!(text.contains("samples is not ranked: it has no nll"), "{text}");
    assert!(!text.contains("by more than chance"), "{text}");
}

/// Numbers end where their interval says that digits mean nothing.
#[test]
fn differences_have_no_more_digits_than_their_interval() {
    let [a, _, c] = three();
    let text = String::from_utf8(compare(&[&a, &c], &["--resamples", "200"]).stdout).expect("text");
    let behind = text.lines().find(|line| line.trim_start().starts_with("2  ")).expect("a second");
    let difference = behind.rsplit("]  ").next().expect("a column");
    let digits = difference.split([' ', '[', ',', ']']).filter(|word| !word.is_empty());
    for word in digits {
        let places = word.split_once('.').map_or(0, |(_, tail)| tail.len());
        assert!(places <= 4, "{word} in {behind}");
    }
}

#[test]
fn files_of_other_examples_are_refused_with_the_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, labels: &[f64], classes: usize| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        let n = labels.len();
        let probs = vec![1.0 / classes as f64; n * classes];
        std::fs::write(path.join("probs.npy"), npy::array("<f8", &[n, classes], &probs))
            .expect("written");
        std::fs::write(path.join("labels.npy"), npy::array("<i8", &[n], labels)).expect("written");
        path.to_str().expect("a path").to_string()
    };
    let a = write("a", &[0.0, 1.0, 1.0], 2);
    for (other, message) in [
        (write("b", &[0.0, 1.0, 0.0], 2), "array `labels`: 0 at example 2"),
        (write("c", &[0.0, 1.0], 2), "2 examples, but"),
        (write("d", &[0.0, 1.0, 1.0], 3), "3 classes, but"),
        (fixture("gaussians.npz"), "holds a regression, but"),
    ] {
        let output = compare(&[&a, &other], &[]);
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(message), "{text}");
    }
    let twice = compare(&[&a, &a], &[]);
    assert!(String::from_utf8_lossy(&twice.stderr).contains("tell them apart with --names"));
}
