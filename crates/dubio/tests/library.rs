//! The library under the binary: the same settings give the same results, and none make it panic.

#[allow(dead_code)] // the other tests use the rest of it
mod small_study;

use std::path::{Path, PathBuf};
use std::process::Command;

use dubio_api::{
    Error, calibrate, check, compare, dee, diagnose, evaluate, plan, report, run, score,
};
use dubio_progress::Silent;
use serde_json::{Value, json};
use small_study::{SUITE, Study};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// What the binary prints for these words, with fixtures by their names.
fn printed(words: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dubio"));
    for word in words {
        match word.contains(".npz") {
            true => command.arg(fixture(word)),
            false => command.arg(word),
        };
    }
    let output = command.output().expect("dubio runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn plain(results: impl serde::Serialize) -> Value {
    serde_json::to_value(results).expect("plain data")
}

#[test]
fn defaults_are_those_of_the_binary() {
    let settings = evaluate::Settings { file: fixture("ensemble.npz"), ..Default::default() };
    let scores = plain(evaluate::evaluate(&settings, &Silent).expect("scores").scores);
    let told = printed(&["evaluate", "ensemble.npz", "--json"]);
    assert_eq!(scores.as_array().map(Vec::len), told.as_object().map(|all| all.len()));
    for score in scores.as_array().expect("a list") {
        let name = score["name"].as_str().expect("a name");
        for field in ["value", "lo", "hi", "n", "why"] {
            assert_eq!(score[field], told[name][field], "{name} {field}");
        }
    }

    let settings = calibrate::Settings { file: fixture("ensemble.npz"), ..Default::default() };
    let found = calibrate::calibrate(&settings).expect("a temperature");
    let told = printed(&["calibrate", "ensemble.npz", "--json"]);
    assert_eq!(json!(found.temperatures[0]), told["temperature"]);

    let settings = diagnose::Settings { path: fixture("ensemble.npz"), ..Default::default() };
    let found = plain(diagnose::diagnose(&settings).expect("a diagnosis"));
    assert_eq!(found, printed(&["diagnose", "ensemble.npz", "--json"]));

    let settings = check::Settings { file: fixture("ensemble.npz"), ..Default::default() };
    let found = plain(check::check(&settings, &Silent).expect("checks"));
    let told = printed(&["check", "ensemble.npz", "--json"]);
    for summary in found["statistics"].as_array().expect("a list") {
        let other = &told["statistics"][summary["statistic"].as_str().expect("a name")];
        assert_eq!(summary["p_value"], other["p_value"]);
        assert_eq!(summary["observed"], other["observed"]);
    }
    assert_eq!((&found["n"], &found["members"]), (&told["n"], &told["members"]));

    let files = ["ensemble.npz", "ensemble-reference.npz"];
    let settings = compare::Settings { files: files.map(fixture).to_vec(), ..Default::default() };
    let found = plain(compare::compare(&settings, &Silent).expect("a comparison"));
    let told = printed(&["compare", files[0], files[1], "--json"]);
    assert_eq!(found["correlations"], told["correlations"]);
    assert_eq!(found["differences"][0]["value"], told["differences"][0]["value"]);
}

#[test]
fn deep_ensemble_equivalents_and_reports_are_plain_data() {
    let settings = dee::Settings {
        methods: vec![fixture("ensemble.npz")],
        baseline: fixture("ensemble-reference.npz").display().to_string(),
        scores: vec!["nll".to_string()],
        ..Default::default()
    };
    let found = plain(dee::dee(&settings, &Silent).expect("equivalents"));
    assert!(found[1]["rows"][0]["dee"].is_number() || found[1]["rows"][0]["dee"].is_string());
    let inputs = vec![fixture("ensemble.npz")];
    let settings = report::Settings { inputs, resamples: 20, ..Default::default() };
    let found = plain(report::report(&settings, &Silent).expect("a study"));
    let rows = found["runs"][0]["outcome"]["finished"]["rows"].as_array().expect("rows");
    let named = |name: &str| rows.iter().find(|row| row["score"] == name);
    let told = printed(&["evaluate", "ensemble.npz", "--json", "--resamples", "20"]);
    assert_eq!(named("ece").map(|row| &row["value"]), Some(&told["ece"]["value"]));
}

#[test]
fn studies_are_planned_run_and_scored_without_a_terminal() {
    let study = Study::new(&SUITE.replace("seeds = 2", "seeds = 1"));
    let suite = study.folder.path().join("small.toml").display().to_string();
    let places = dubio_api::suite::Places { runs: study.runs(), data: None };
    let settings =
        plan::Settings { suite: suite.clone(), places: places.clone(), ..Default::default() };
    let planned = plain(plan::plan(&settings).expect("a plan"));
    assert_eq!(planned["runs"].as_array().map(Vec::len), Some(3));
    assert_eq!(planned["runs"][0]["state"], "missing");
    let settings = run::Settings {
        suite,
        places,
        program: PathBuf::from(env!("CARGO_BIN_EXE_dubio")),
        ..Default::default()
    };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let ran = run::run(&settings, &stop, &|_| Box::new(Silent), &Silent).expect("a study");
    assert_eq!((ran.finished.len(), ran.failed.len()), (3, 0));
    let settings = score::Settings { runs: study.runs(), ..Default::default() };
    let scored = plain(score::score(&settings).expect("scores"));
    let of_test = |rows: &Value| {
        let rows = rows.as_array().expect("a list").iter();
        let accuracy = |row: &&Value| row["split"] == "test" && row["name"] == "accuracy";
        rows.filter(accuracy).map(|row| row["value"].clone()).collect::<Vec<_>>()
    };
    let (mut one, mut other) = (of_test(&scored), of_test(&plain(&ran)["scores"]));
    for values in [&mut one, &mut other] {
        values.sort_by_key(Value::to_string);
    }
    assert!(one.len() == 3 && one == other, "{one:?} {other:?}");
}

fn refused<T>(result: Result<T, Error>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn settings_that_no_command_line_would_let_through_are_errors() {
    let file = fixture("ensemble.npz");
    let evaluated = |change: fn(&mut evaluate::Settings)| {
        let mut settings = evaluate::Settings { file: file.clone(), ..Default::default() };
        change(&mut settings);
        refused(evaluate::evaluate(&settings, &Silent))
    };
    assert_eq!(evaluated(|s| s.bins = 0), "bins must be from 1 to 10000, got 0");
    assert!(evaluated(|s| s.resamples = 1).contains("resamples must be from 20"));
    assert!(evaluated(|s| s.threshold = f64::NAN).contains("threshold"));
    assert!(evaluated(|s| s.level = 1.0).contains("level"));
    assert!(evaluated(|s| s.ood = vec![("a.b".into(), s.file.clone())]).contains("`a.b`"));
    assert!(evaluated(|s| s.file = PathBuf::new()).contains("check the name"));
    let none = check::Settings { file: file.clone(), replicates: 0, ..Default::default() };
    assert!(refused(check::check(&none, &Silent)).contains("replicates"));
    let none = compare::Settings::default();
    assert!(refused(compare::compare(&none, &Silent)).contains("two predictions files"));
    let none = compare::Settings { members: Some(0), ..Default::default() };
    assert!(refused(compare::compare(&none, &Silent)).contains("members"));
    let none = dee::Settings { methods: vec![file], draws: 0, ..Default::default() };
    assert!(refused(dee::dee(&none, &Silent)).contains("draws"));
    assert!(refused(report::report(&Default::default(), &Silent)).contains("nothing to report"));
    let none = run::Settings { jobs: Some(0), ..Default::default() };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let watching: run::Watching<'_> = &|_| unreachable!("nothing is run");
    assert!(refused(run::run(&none, &stop, watching, &Silent)).contains("jobs"));
    assert!(refused(plan::plan(&Default::default())).contains("suite"));
}
