//! `dubio data` as a user meets it. Nothing here touches the network.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn dubio(root: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dubio"));
    command.arg("data").args(arguments).env("DUBIO_DATA", root).output().expect("dubio runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// The three index and data files of no table, and a file of MNIST that is not one.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mnist = folder.path().join("mnist");
    std::fs::create_dir(&mnist).expect("a folder");
    std::fs::write(mnist.join("t10k-labels-idx1-ubyte.gz"), [0; 4542]).expect("a file");
    std::fs::write(mnist.join("train-labels-idx1-ubyte.gz"), [0; 10]).expect("a file");
    folder
}

#[test]
fn the_list_has_every_set_with_its_size_and_whether_it_is_here() {
    let folder = folder();
    let table = text(&dubio(folder.path(), &["list"]).stdout);
    let line = |name: &str| {
        let line = table.lines().find(|line| line.split_whitespace().next() == Some(name));
        line.unwrap_or_else(|| panic!("{name} is not in\n{table}")).to_string()
    };
    assert!(line("mnist").contains("partly") && line("mnist").contains("60000 train, 10000 test"));
    assert!(line("digits").contains("embedded") && line("yacht").contains("embedded"));
    assert!(line("cifar-10").contains('—') && line("protein").contains("45730 rows"));
    assert!(table.contains(&folder.path().display().to_string()));
}

#[test]
fn the_list_as_json_has_the_whole_cards() {
    let output = dubio(folder().path(), &["list", "--json"]);
    let cards: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let cards = cards.as_array().expect("an array");
    assert!(cards.len() >= 19);
    for card in cards {
        for key in ["name", "summary", "licence", "citation", "home"] {
            assert!(card[key].as_str().is_some_and(|text| !text.is_empty()), "{key} of {card}");
        }
    }
    let cifar = cards.iter().find(|card| card["name"] == "cifar-10").expect("cifar-10");
    assert_eq!(cifar["classes"][9], "truck");
    assert_eq!(cifar["files"][0]["member"], "cifar-10-batches-bin/data_batch_1.bin");
}

#[test]
fn check_names_what_is_missing_or_altered_and_ends_with_1() {
    let folder = folder();
    let output = dubio(folder.path(), &["check", "mnist", "digits"]);
    assert_eq!(output.status.code(), Some(1));
    let report = text(&output.stdout);
    assert!(report.contains("mnist: 0 of 4 files match"), "{report}");
    assert!(report.contains("train-images-idx3-ubyte.gz: missing"), "{report}");
    assert!(report.contains("train-labels-idx1-ubyte.gz: 10 bytes, not 28881"), "{report}");
    assert!(report.contains("not the published file: SHA-256 "), "{report}");
    assert!(report.contains("digits: part of the program"), "{report}");
    assert_eq!(dubio(folder.path(), &["check", "digits", "fashion8"]).status.code(), Some(0));
    let json = dubio(folder.path(), &["check", "mnist", "--json"]).stdout;
    let json: Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!((&json[0]["whole"], &json[0]["files"][3]["good"]), (&false.into(), &false.into()));
}

#[test]
fn another_folder_can_be_named() {
    let (here, there) = (folder(), tempfile::tempdir().expect("a folder"));
    let there = there.path().to_str().expect("a path");
    let output = dubio(here.path(), &["check", "mnist", "--dir", there]);
    assert!(text(&output.stdout).contains("t10k-labels-idx1-ubyte.gz: missing"));
}

#[test]
fn a_wrong_name_is_told_the_right_one_and_ends_with_2() {
    let output = dubio(folder().path(), &["check", "cifar10"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("did you mean `cifar-10`?"));
    assert_eq!(dubio(folder().path(), &["fetch"]).status.code(), Some(2));
}

#[test]
fn what_is_part_of_the_program_or_cannot_be_fetched_is_said_without_a_download() {
    let folder = folder();
    let output = dubio(folder.path(), &["fetch", "digits"]);
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("nothing to fetch"));
    let output = dubio(folder.path(), &["fetch", "notmnist"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("there is no published IDX version"));
}

#[test]
fn help_has_examples() {
    let output = dubio(folder().path(), &["--help"]);
    let help = text(&output.stdout);
    for words in ["Examples:", "dubio data fetch mnist yacht", "DUBIO_DATA"] {
        assert!(help.contains(words), "{help}");
    }
}
