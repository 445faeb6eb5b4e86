//! A user's own data, from the file to the scores, by commands alone.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn dubio(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dubio"));
    command.args(words).current_dir(folder).output().expect("dubio runs")
}

fn done(folder: &Path, words: &[&str]) -> String {
    let output = dubio(folder, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// A class for each side of x = 20, groups of ten.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let row =
        |i: usize| format!("{},{},{},s{}\n", i, i % 3, if i < 20 { "low" } else { "high" }, i / 10);
    let rows: String = (0..40).map(row).collect();
    fs::write(folder.path().join("mine.csv"), format!("x,z,level,site\n{rows}")).expect("written");
    folder
}

#[test]
fn a_table_is_trained_on_and_scored_with_its_groups() {
    let folder = folder();
    let folder = folder.path();
    let data = "mine.csv:target=level,group=site,test=0.5";
    let words = ["train", "sgd", "--data", data, "--network", "mlp-5", "--set", "epochs=3"];
    let rest = ["--set", "batch=4", "-o", "p.npz", "--record", "r.json"];
    done(folder, &[&words[..], &rest[..]].concat());
    let scores = json(&done(folder, &["evaluate", "p.npz", "--json", "--groups", "site"]));
    assert_eq!(scores["accuracy"]["n"], 20);
    assert!(scores["group.3.accuracy"]["value"].is_number(), "{scores}");
    let record = json(&fs::read_to_string(folder.join("r.json")).expect("a record"));
    assert_eq!(record["data_read"]["classes"], "high, low");
    let how = "a random 0.5 of the examples is the test set, stratified by class, seed 0";
    assert_eq!(record["data_read"]["split"], how);
}

#[test]
fn own_data_and_what_is_part_of_the_program_need_no_folder_of_data_sets() {
    let folder = folder();
    let without_home = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dubio"));
        command.args(words).current_dir(folder.path()).env_clear().output().expect("dubio runs")
    };
    let quick = ["--network", "mlp-5", "--set", "epochs=1", "--set", "batch=4", "-o", "p.npz"];
    for words in [
        &["data", "check", "mine.csv:target=level"][..],
        &["data", "check", "digits"],
        &[&["train", "sgd", "--data", "mine.csv:target=level"][..], &quick].concat(),
        &[&["train", "sgd", "--data", "digits"][..], &quick].concat(),
    ] {
        let output = without_home(words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for words in [&["data", "check", "mnist"][..], &["train", "sgd", "--data", "mnist", "-o", "p"]]
    {
        let output = without_home(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("set DUBIO_DATA"), "{words:?}: {said}");
    }
}

#[test]
fn a_look_comes_as_text_and_as_json() {
    let folder = folder();
    let folder = folder.path();
    let text = done(folder, &["data", "check", "mine.csv:target=level"]);
    assert!(text.contains("one-hot      site: s0, s1, s2, s3"), "{text}");
    assert!(text.contains("32 train, 8 test"), "{text}");
    let seen = json(&done(folder, &["data", "check", "mine.csv:target=level", "--json"]));
    assert_eq!(seen[0]["classes"]["low"], serde_json::json!({"train": 16, "test": 4}));
    assert_eq!(seen[0]["ranges"]["x"], serde_json::json!({"min": 0.0, "max": 39.0}));
    let wrong = dubio(folder, &["data", "check", "mine.csv:target=levle"]);
    let words = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(wrong.status.code() == Some(2) && words.contains("did you mean `level`?"), "{words}");
}

#[test]
fn a_folder_with_the_name_of_a_known_set_is_pointed_out() {
    let folder = folder();
    fs::create_dir(folder.path().join("digits")).expect("a folder");
    let text = done(folder.path(), &["data", "check", "digits"]);
    assert!(text.contains("write ./digits for the folder that is here"), "{text}");
}

#[test]
fn an_unlabelled_ood_set_is_predicted_detected_and_reported() {
    let folder = folder();
    let folder = folder.path();
    let rows: String = (0..25).map(|i| format!("{},{}\n", 500 + i, i % 3)).collect();
    fs::write(folder.join("far.csv"), format!("x,z\n{rows}")).expect("written");
    let (data, far) = ("mine.csv:target=level,ignore=site,test=0.5", "far.csv:target=none");
    let words = ["train", "deep-ensemble", "--data", data, "--network", "mlp-5", "--set"];
    let rest = ["members=3", "--set", "epochs=3", "--set", "batch=4", "-o", "in.npz", "--also"];
    done(folder, &[&words[..], &rest[..], &["far.csv:target=none=far.npz"]].concat());
    let scores = json(&done(folder, &["evaluate", "in.npz", "--ood", "far=far.npz", "--json"]));
    let auroc = |name: &str| scores[name]["value"].as_f64().expect(name);
    assert!((0.0..=1.0).contains(&auroc("ood.far.auroc.total")));
    // The same in a study, whose report has the OOD set.
    let method = "[[methods]]\nmethod = \"deep-ensemble\"\nmembers = 3\nepochs = 3\nbatch = 4\n";
    let suite = |data: &str| {
        format!(
            "data = [\"{data}\"]\nnetworks = [\"mlp-5\"]\n{method}[evaluate]\nood = [\"{far}\"]\n"
        )
    };
    fs::write(folder.join("s.toml"), suite(data)).expect("written");
    done(folder, &["run", "s.toml", "--runs", "runs"]);
    let table = done(folder, &["score", "runs"]);
    assert!(table.contains("ood.far.auroc.total"), "{table}");
    let page = fs::read_to_string(folder.join("runs/s.html")).expect("a report");
    assert!(page.contains("ood.far"));
    // A regression has nothing to tell them by.
    fs::write(folder.join("s.toml"), suite("mine.csv:target=x,ignore=site+level"))
        .expect("written");
    fs::write(folder.join("far.csv"), "z\n1\n2\n").expect("written");
    let wrong = dubio(folder, &["run", "s.toml", "--runs", "runs"]);
    let words = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(wrong.status.code() == Some(2), "{words}");
    assert!(words.contains("by its targets, and it has none; name its target"), "{words}");
}

#[test]
fn an_ood_table_with_other_categories_is_predicted_when_unknown_ones_are_to_be_ignored() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("far.csv"), "site,z,x\ns9,1,500\ns1,2,501\ns9,0,502\n").expect("written");
    let data = "mine.csv:target=level,test=0.5";
    let suite = |far: &str| {
        let method = "[[methods]]\nmethod = \"sgd\"\nepochs = 1\nbatch = 4\n";
        let ood = format!("[evaluate]\nood = [\"{far}\"]\n");
        let text = format!("data = [\"{data}\"]\nnetworks = [\"mlp-5\"]\n{method}{ood}");
        fs::write(folder.join("s.toml"), text).expect("written");
        dubio(folder, &["run", "s.toml", "--runs", "runs"])
    };
    let wrong = suite("far.csv:target=none");
    let words = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(
        words.contains("column `site` has `s9`") && words.contains("unknown=ignore"),
        "{words}"
    );
    let right = suite("far.csv:target=none,unknown=ignore");
    assert!(right.status.success(), "{}", String::from_utf8_lossy(&right.stderr));
    assert!(done(folder, &["score", "runs"]).contains("ood.far.auroc.total"));
    let words = ["train", "sgd", "--data", data, "--network", "mlp-5", "--set", "epochs=1", "-o"];
    let also =
        ["in.npz", "--set", "batch=4", "--also", "far.csv:target=none,unknown=ignore=far.npz"];
    done(folder, &[&words[..], &also[..]].concat());
    assert!(done(folder, &["evaluate", "in.npz", "--ood", "far=far.npz"]).contains("ood.far"));
}
