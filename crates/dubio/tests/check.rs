//! `dubio check` as a user meets it.

#[allow(dead_code, unused_imports)] // the other tests use the rest of it
mod npy;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn check(file: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dubio"));
    command.arg("check").arg(fixture(file)).args(arguments).output().expect("dubio runs")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

fn json(file: &str, arguments: &[&str]) -> Value {
    let output = check(file, &[&["--json"], arguments].concat());
    serde_json::from_str(&stdout(&output)).expect("JSON")
}

fn statistics(report: &Value) -> Vec<&str> {
    report["statistics"].as_object().expect("an object").keys().map(String::as_str).collect()
}

/// `hoisted` of benches/check.py with 20,000 replicates: 95 % of accuracies in [0.720, 0.850], of `ece`
/// in [0.0418, 0.0982]; p-values 0.386 and 1, sharpness 0.110 and 0.0475.
#[test]
fn the_table_says_what_was_checked_and_how_it_went() {
    let table = stdout(&check("ensemble.npz", &["--replicates", "400"]));
    let expected = "\
statistic    observed        95 % of replicates  p_value  p_two_sided  sharpness  passes
accuracy      0.77500  [   0.72000,    0.85000]    0.383        0.810    0.11525  yes
ece           0.15818  [   0.04281,    0.09638]    1.000        0.005    0.04738  no: higher than the model expects

400 replicates of 200 examples from 3 members, one of which generates all labels
passes: observed is inside 95 % of the replicates (rule interval)
";
    assert_eq!(table, expected);
}

#[test]
fn a_statistic_has_all_its_numbers() {
    let report = json("ensemble.npz", &["--statistic", "ece", "--statistic", "calibrated.nll"]);
    assert_eq!(statistics(&report), ["ece", "calibrated.nll"]);
    assert_eq!(report["mode"], "bayesian");
    assert_eq!((&report["rule"], &report["replicates"]), (&"interval".into(), &1000.into()));
    assert_eq!((&report["n"], &report["members"]), (&200.into(), &3.into()));
    for own in report["statistics"].as_object().expect("an object").values() {
        let number = |key: &str| own[key].as_f64().unwrap_or_else(|| panic!("{key} in {own}"));
        let quartiles: Vec<f64> =
            own["box"].as_array().expect("a list").iter().flat_map(Value::as_f64).collect();
        assert!(quartiles.len() == 5 && quartiles.is_sorted());
        assert!(number("lo") <= quartiles[0] && quartiles[4] <= number("hi"));
        assert!((number("sharpness") - (quartiles[4] - quartiles[0])).abs() < 1e-12);
        let inside = number("lo") <= number("observed") && number("observed") <= number("hi");
        assert_eq!(own["passes"], inside);
        // Of continuous statistics, by hand: no replicate ties with the observed value.
        let tail = number("p_value").min(1.0 - number("p_value"));
        assert!(
            (number("p_two_sided") - (2.0 * (1.0 + 1000.0 * tail) / 1001.0).min(1.0)).abs() < 1e-12
        );
    }
    // The score itself, from the independent implementation of the fixtures.
    let expected = std::fs::read_to_string(fixture("ensemble.expected.json")).expect("a fixture");
    let expected: Value = serde_json::from_str(&expected).expect("JSON");
    let gap = report["statistics"]["ece"]["observed"].as_f64().expect("a number")
        - expected["ece"].as_f64().expect("a number");
    assert!(gap.abs() < 1e-9);
}

/// 95 % of replicates in [0.908, 0.983] and 0.875 observed: this passed with a thousand replicates, of which one
/// was lower, and failed with a hundred. Neither their number nor the seed decides any more.
#[test]
fn the_verdict_does_not_depend_on_the_number_of_replicates_or_the_seed() {
    let folder = tempfile::tempdir().expect("a folder");
    let n = 120;
    // 105 targets inside the central 95 % of N(0, 1) and 15 outside.
    let targets: Vec<f64> = (0..n).map(|i| if i < 105 { i as f64 / 105.0 } else { 3.0 }).collect();
    for (name, values) in [("mean", vec![0.0; n]), ("std", vec![1.0; n]), ("targets", targets)] {
        let file = folder.path().join(format!("{name}.npy"));
        std::fs::write(file, npy::array("<f8", &[n], &values)).expect("written");
    }
    let path = folder.path().to_str().expect("a path");
    for replicates in ["100", "1000", "5000"] {
        for seed in ["0", "1", "2"] {
            let output = Command::new(env!("CARGO_BIN_EXE_dubio"))
                .args(["check", path, "--statistic", "picp", "--json"])
                .args(["--replicates", replicates, "--seed", seed])
                .output()
                .expect("dubio runs");
            let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
            let own = &report["statistics"]["picp"];
            assert_eq!((&own["observed"], &own["passes"]), (&0.875.into(), &false.into()), "{own}");
            assert!(own["p_two_sided"].as_f64().is_some_and(|p| p < 0.05), "{own}");
        }
    }
}

/// The published rule stays, and says what it depends on.
#[test]
fn the_published_rule_is_there_by_name() {
    let text = stdout(&check("ensemble.npz", &["--rule", "range", "--replicates", "400"]));
    assert!(text.contains("passes: p_value is neither 0 nor 1 (rule range"), "{text}");
}

#[test]
fn every_score_can_be_a_statistic_of_both_kinds_of_predictions() {
    for (file, least) in [("ensemble.npz", 50), ("gaussians.npz", 13), ("samples.npz", 10)] {
        let report = json(file, &["--statistic", "*", "--replicates", "20"]);
        let all = report["statistics"].as_object().expect("an object");
        let defined = all.values().filter(|own| !own["p_value"].is_null()).count();
        assert!(defined >= least, "{file}: {defined} of {}", all.len());
        for (name, own) in all.iter().filter(|(_, own)| own["p_value"].is_null()) {
            assert!(own["why"].as_str().is_some_and(|why| !why.is_empty()), "{name}");
        }
    }
    let default = json("gaussians.npz", &["--replicates", "20"]);
    assert_eq!(statistics(&default), ["picp", "quantile_calibration"]);
}

#[test]
fn the_same_seed_gives_the_same_bytes_for_any_number_of_threads() {
    for file in ["ensemble.npz", "gaussians.npz"] {
        let run = |threads: &str, seed: &str| {
            let scale = ["--statistic", "*", "--replicates", "40"];
            stdout(&check(file, &[&["--threads", threads, "--seed", seed], &scale[..]].concat()))
        };
        assert_eq!(run("1", "7"), run("3", "7"));
        assert_ne!(run("1", "7"), run("1", "8"));
    }
}

/// The temperatures that scipy finds on the leading 40 of 200 examples, by BFGS from T = 1:
/// `-(logsumexp(log_softmax(x / T[:, None, None], -1)[:, range(40), y], 0) - log(3)).mean()`.
#[test]
fn recalibration_fits_on_the_leading_fifth_and_leaves_it_out() {
    let temperatures = |how: &str| -> Vec<f64> {
        let report = json("ensemble.npz", &["--recalibrate", how, "--replicates", "20"]);
        assert_eq!(report["n"], 160);
        report["temperatures"].as_array().expect("a list").iter().flat_map(Value::as_f64).collect()
    };
    for (how, expected) in
        [("per-member", [0.251645, 2.620009, 3.632088]), ("one", [2.070142, 2.070142, 2.070142])]
    {
        let found = temperatures(how);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-4, "{how}: {found} for {expected}");
        }
    }
}

/// Temperatures are those of the file before the shift, and the shifted predictions are what is checked.
#[test]
fn temperatures_can_come_from_before_a_shift() {
    let folder = tempfile::tempdir().expect("a folder");
    let (test, shifted) = (fixture("ensemble.npz"), folder.path().join("shifted.npz"));
    let (test, shifted) = (test.to_str().expect("text"), shifted.to_str().expect("text"));
    let mut calibrate = Command::new(env!("CARGO_BIN_EXE_dubio"));
    calibrate.args(["calibrate", test, "--per-member", "--apply", test, "-o", shifted]);
    assert!(calibrate.output().expect("dubio runs").status.success());
    let how = ["--recalibrate", "per-member", "--replicates", "20"];
    let own = json(test, &how);
    assert_eq!(own, json(test, &[&how[..], &["--recalibrate-on", test]].concat()));
    let after = json(shifted, &[&how[..], &["--recalibrate-on", test]].concat());
    assert_eq!((&after["temperatures"], &after["n"]), (&own["temperatures"], &own["n"]));
    assert_ne!(after["statistics"], own["statistics"]);
    let other = fixture("ties.npz");
    let other = ["--recalibrate-on", other.to_str().expect("text")];
    let refused = stderr(&check(test, &[&how[..], &other].concat()));
    assert!(refused.contains("do not hold predictions by the same members"), "{refused}");
    let other = fixture("gaussians.npz");
    let other = ["--recalibrate-on", other.to_str().expect("text")];
    let refused = stderr(&check(test, &[&how[..], &other].concat()));
    assert!(refused.contains("a regression has no temperatures"), "{refused}");
}

#[test]
fn a_statistic_without_a_value_is_told_and_makes_the_exit_code_1() {
    let named =
        check("ties.npz", &["--statistic", "misclassification.auroc.model,uncertainty.total"]);
    assert_eq!(named.status.code(), Some(1));
    let table = String::from_utf8_lossy(&named.stdout);
    assert!(table.contains("needs several members"), "{table}");
    assert!(table.contains("it depends on the predictions alone"), "{table}");
    let family = check("ties.npz", &["--statistic", "uncertainty", "--replicates", "20"]);
    assert_eq!(family.status.code(), Some(0), "a family does not name it");
}

#[test]
fn what_cannot_be_checked_is_refused_with_what_to_do() {
    for (file, arguments, message) in [
        ("quantiles.npz", &[][..], "quantiles do not determine a distribution to draw from"),
        ("gaussians.npz", &["--recalibrate", "one"], "--recalibrate is for classification"),
        ("gaussians.npz", &["--statistic", "ece"], "`ece` is not a statistic of"),
        ("ensemble.npz", &["--statistic", "ecee"], "did you mean `ece`"),
        ("ensemble.npz", &["--statistic", "rmse"], "`rmse` is not a statistic of"),
        ("nothing.npz", &[], "nothing.npz"),
    ] {
        let output = check(file, arguments);
        assert_eq!(output.status.code(), Some(2), "{file} {arguments:?}");
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

/// The members know nothing, and say so; the mean of them knows nothing either. Only a model that
/// claims to know is found out.
#[test]
fn a_model_that_is_too_sure_fails_and_a_modest_one_passes() {
    let folder = tempfile::tempdir().expect("a folder");
    let n = 400;
    let labels: Vec<f64> = (0..n).map(|i| f64::from(i % 2 == 0)).collect();
    std::fs::write(folder.path().join("labels.npy"), npy::array("<i8", &[n], &labels))
        .expect("written");
    for (sure, passes) in [(0.55, true), (0.95, false)] {
        let probs: Vec<f64> = (0..n)
            .flat_map(|i| if i % 4 < 2 { [sure, 1.0 - sure] } else { [1.0 - sure, sure] })
            .collect();
        std::fs::write(folder.path().join("probs.npy"), npy::array("<f8", &[n, 2], &probs))
            .expect("written");
        let path = folder.path().to_str().expect("a path");
        let output = Command::new(env!("CARGO_BIN_EXE_dubio"))
            .args(["check", path, "--json", "--statistic", "accuracy"])
            .output()
            .expect("dubio runs");
        let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        let own = &report["statistics"]["accuracy"];
        assert_eq!((&own["observed"], &own["passes"]), (&0.5.into(), &passes.into()), "{own}");
    }
}
