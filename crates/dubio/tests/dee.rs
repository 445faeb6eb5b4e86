//! `dubio dee` as a user meets it.

#[allow(dead_code, unused_imports)] // the other tests use the rest of it
mod npy;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn dee(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dubio"))
        .arg("dee")
        .args(arguments)
        .output()
        .expect("dubio runs")
}

fn rows(arguments: &[&str]) -> Vec<Value> {
    let output = dee(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

const TABLE: &str = "dataset,model,method,n_samples,metric,value,std
X,net,deep,1,cll,-1.0,0.1
X,net,deep,2,cll,-0.8,0.1
X,net,deep,4,cll,-0.6,0.1
X,net,swag,5,cll,-0.7,0.2
X,net,swag,10,cll,-0.5,NA
X,net,swag,1,cll,-3,
Y,net,deep,1,cll,-2.0,0.1
Y,net,deep,2,cll,-1.0,0.1
Y,net,swag,5,cll,-1.5,0.1
Y,net,swag,5,cll,-1.3,0.1
";

fn table(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::with_suffix(".csv").expect("a file");
    std::fs::write(file.path(), text).expect("written");
    file
}

fn path(file: &Path) -> &str {
    file.to_str().expect("a path")
}

/// By hand: -0.7 lies half way from 2 networks at -0.8 to 4 at -0.6; with the standard deviation the baseline is
/// -0.9, -0.7, -0.5, which reaches it at 2, or -1.1, -0.9, -0.7 at 4. Of the two runs in Y, the mean
/// -1.4 is 0.6 of the way from 1 network to 2.
#[test]
fn a_table_gives_equivalents_with_bounds() {
    let file = table(TABLE);
    let rows = rows(&["--table", path(file.path()), "--baseline", "deep", "--score", "cll"]);
    let row = |dataset: &str, method: &str, n: u64| {
        let own = |row: &&Value| {
            row["dataset"] == dataset && row["method"] == method && row["n_samples"] == n
        };
        rows.iter().find(own).unwrap_or_else(|| panic!("{dataset} {method} {n}"))
    };
    let keys: Vec<&String> = rows[0].as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        [
            "dataset",
            "model",
            "method",
            "n_samples",
            "metric",
            "value",
            "std",
            "dee",
            "lower",
            "upper"
        ]
    );
    let near = |value: &Value, expected: f64| {
        let found = value.as_f64().unwrap_or_else(|| panic!("{value}"));
        assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
    };
    let half = row("X", "swag", 5);
    near(&half["dee"], 3.0);
    near(&half["lower"], 2.0);
    near(&half["upper"], 4.0);
    near(&row("X", "swag", 1)["dee"], 1.0);
    assert_eq!(row("X", "swag", 10)["dee"], "> 4");
    near(&row("X", "deep", 4)["dee"], 4.0);
    near(&row("Y", "swag", 5)["dee"], 1.6);
    near(&row("Y", "swag", 5)["std"], 0.02_f64.sqrt());
}

#[test]
fn a_table_separated_by_semicolons_is_the_same() {
    let of = |text: &str| rows(&["--table", path(table(text).path()), "--baseline", "deep"]);
    assert_eq!(of(&TABLE.replace(',', ";")), of(TABLE));
}

#[test]
fn the_table_for_people_has_a_line_for_each_method() {
    let file = table(TABLE);
    let output = dee(&["--table", path(file.path()), "--baseline", "deep"]);
    let text = String::from_utf8(output.stdout).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5);
    assert!(lines[0].contains("1 sample ") && lines[0].contains("10 samples"), "{text}");
    assert!(text.contains("3.0 [2.0, 4.0]") && text.contains("> 4"), "{text}");
}

/// By hand: the better baseline is -0.7, -0.5 and then not known; the worse one -0.9, -0.7.
#[test]
fn bounds_beyond_the_known_standard_deviations_are_left_open() {
    let file = table(
        "dataset,model,method,n_samples,metric,value,std
X,net,deep,2,cll,-0.8,0.1
X,net,deep,3,cll,-0.6,0.1
X,net,deep,4,cll,-0.5,
X,net,swag,1,cll,-0.9,
X,net,swag,2,cll,-0.55,
X,net,swag,3,cll,-0.5,
X,net,swag,4,cll,-inf,
",
    );
    let output = dee(&["--table", path(file.path()), "--baseline", "deep"]);
    let text = String::from_utf8(output.stdout).expect("text");
    let swag = text.lines().find(|line| line.contains("swag")).expect("a line");
    let cells: Vec<&str> =
        swag.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(
        cells[4..],
        ["1.0 [1.0, 2.0]", "3.5 [2.8, —]", "4.0 [3.0, —]", "1.0 [1.0, 1.0]"],
        "{text}"
    );
    let told = String::from_utf8(output.stderr).expect("text");
    assert!(told.contains("worse than its 2 networks count as 1"), "{told}");
    let rows = rows(&["--table", path(file.path()), "--baseline", "deep"]);
    assert_eq!(rows.last().expect("a row")["value"], "-inf");
}

#[test]
fn mistakes_in_a_table_are_told_with_their_place() {
    let with = |old: &str, new: &str| TABLE.replacen(old, new, 1);
    for (text, arguments, message) in [
        (TABLE.to_string(), &["--baseline", "dep"][..], "did you mean `deep`?"),
        (
            TABLE.to_string(),
            &["--baseline", "deep", "--score", "ll"],
            "no metric `ll`; there are cll",
        ),
        (
            TABLE.to_string(),
            &["--baseline", "deep", "--samples", "1,7"],
            "nothing has 7 samples; the most are 10",
        ),
        (
            with("X,net,deep,2,cll,-0.8", "X,net,deep,2,cll,low"),
            &["--baseline", "deep"],
            "line 3: `low` is no value",
        ),
        (
            with("X,net,deep,2", "X,net,deep,0"),
            &["--baseline", "deep"],
            "line 3: `0` is no number of samples",
        ),
        (
            with("X,net,deep,2", "X,net,deep,0").replace('\n', "\r\n"),
            &["--baseline", "deep"],
            "line 3: `0` is no number of samples",
        ),
        (with(",value", ",worth"), &["--baseline", "deep"], "there is no column `value`"),
        (TABLE.replace("cll", "goodness"), &["--baseline", "deep"], "--better"),
    ] {
        let file = table(&text);
        let output = dee(&[&["--table", path(file.path())], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{message}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(message), "{told}");
    }
    let file = table(&TABLE.replace("cll", "goodness"));
    let known = dee(&["--table", path(file.path()), "--baseline", "deep", "--better", "higher"]);
    assert_eq!(known.status.code(), Some(0));
    let file = table(&TABLE.replace("Y,net,deep", "Y,net,other"));
    let gap = dee(&["--table", path(file.path()), "--baseline", "deep", "--json"]);
    assert_eq!(gap.status.code(), Some(1), "Y has no baseline");
    assert!(String::from_utf8_lossy(&gap.stdout).contains("there are no scores of deep"));
}

/// Logits of so many members: a signal that they share, and noise of their own.
fn predictions(folder: &Path, name: &str, members: usize, noise: f64, seed: usize) {
    let (n, classes) = (120, 4);
    let path = folder.join(name);
    std::fs::create_dir_all(&path).expect("a folder");
    let random =
        |i: usize| ((i * 7919 + seed * 104_729 + i * i % 613 * 31) % 2003) as f64 / 2003.0 - 0.5;
    let labels: Vec<f64> = (0..n).map(|i| (i * 7 % classes) as f64).collect();
    let logits: Vec<f64> = (0..members * n * classes)
        .map(|at| {
            let (row, class) = (at / classes % n, at % classes);
            let signal = if labels[row] == class as f64 { 1.5 } else { 0.0 };
            signal + noise * random(at)
        })
        .collect();
    std::fs::write(path.join("logits.npy"), npy::array("<f8", &[members, n, classes], &logits))
        .expect("written");
    std::fs::write(path.join("labels.npy"), npy::array("<i8", &[n], &labels)).expect("written");
}

#[test]
fn files_and_folders_of_files_give_curves_and_equivalents() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("a path").to_string();
    // Deep ensembles in two files of three networks each; a method with two runs; one with a file.
    predictions(folder.path(), "deep/one", 3, 8.0, 1);
    predictions(folder.path(), "deep/two", 3, 8.0, 2);
    predictions(folder.path(), "runs/a", 4, 9.0, 3);
    predictions(folder.path(), "runs/b", 4, 9.0, 4);
    predictions(folder.path(), "single", 2, 14.0, 5);
    let (deep, runs, single) = (at("deep"), at("runs"), at("single"));
    let arguments = ["--baseline", &deep, &runs, &single];
    let all = rows(&arguments);
    let of = |method: &str| -> Vec<&Value> {
        all.iter().filter(|row| row["method"] == method).collect()
    };
    assert_eq!((of("deep").len(), of("runs").len(), of("single").len()), (6, 4, 2));
    for row in of("deep") {
        assert_eq!(row["metric"], "calibrated.nll");
        let n = row["n_samples"].as_f64().expect("a number");
        assert!(row["dee"].as_f64().is_some_and(|dee| (dee - n).abs() < 1e-9), "{row}");
    }
    let runs_of = of("runs");
    assert!(runs_of.iter().all(|row| row["std"].is_f64()), "two runs have a standard deviation");
    assert!(of("single")[1]["std"].is_null(), "one run of two members has one pair");
    let size = |row: &Value| row["dee"].as_f64().unwrap_or(f64::INFINITY);
    assert!(size(runs_of[3]) > size(runs_of[0]), "more samples are worth more: {runs_of:?}");
    // Another score, other numbers; the same seed, the same bytes.
    let accuracy = rows(&[&arguments[..], &["--score", "accuracy", "--samples", "2"]].concat());
    assert_eq!(accuracy.len(), 3);
    let two = rows(&[&arguments[..], &["--samples", "2"]].concat());
    let twos: Vec<Value> = all.iter().filter(|row| row["n_samples"] == 2).cloned().collect();
    assert_eq!(two, twos, "asking for fewer numbers changes none");
    let bytes =
        |threads: &str| dee(&[&arguments[..], &["--json", "--threads", threads]].concat()).stdout;
    assert_eq!(bytes("1"), bytes("3"));
}

#[test]
fn files_that_cannot_be_compared_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("a path").to_string();
    predictions(folder.path(), "deep", 3, 8.0, 1);
    predictions(folder.path(), "other", 2, 8.0, 2);
    let labels: Vec<f64> = (0..120).map(|i| (i % 4) as f64).collect();
    let path = folder.path().join("other/labels.npy");
    std::fs::write(path, npy::array("<i8", &[120], &labels)).expect("written");
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    let (deep, other, empty) = (at("deep"), at("other"), at("empty"));
    for (arguments, message) in [
        (vec!["--baseline", &deep, &other], "the examples must be the same, in the same order"),
        (vec!["--baseline", &deep, &empty], "no predictions file in this folder"),
        (vec!["--baseline", &deep], "no method to compare"),
        (vec!["--baseline", &deep, &deep], "tell them apart with --names"),
        (
            vec!["--baseline", &deep, &deep, "--names", "own", "--samples", "2,4"],
            "nothing has 4 samples; the most are 3",
        ),
    ] {
        let output = dee(&arguments);
        assert_eq!(output.status.code(), Some(2), "{message}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(message), "{told}");
    }
}
