//! A user's own data, from the file to the scores, by commands alone.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use dubio_predictions::read_arrays;
use serde_json::Value;

#[allow(dead_code, unused_imports)] // the other tests use the rest of it
mod npy;

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
    let suite = |data: &str| {
        let methods = "[[methods]]\nmethod = \"sgd\"\nepochs = 1\nbatch = 4\n";
        format!("data = [{data}]\nnetworks = [\"mlp-5\"]\n{methods}")
    };
    let ood = "[evaluate]\nood = [\"mnist\"]\n";
    for (file, text) in [
        ("own.toml", suite("\"mine.csv:target=level\"")),
        ("built-in.toml", suite("\"digits\", \"yacht\"")),
        ("named.toml", suite("\"mine.csv:target=level\", \"mnist\"")),
        ("ood.toml", suite("\"digits\"") + ood),
    ] {
        fs::write(folder.path().join(file), text).expect("written");
    }
    let quick = ["--network", "mlp-5", "--set", "epochs=1", "--set", "batch=4", "-o", "p.npz"];
    for words in [
        &["data", "check", "mine.csv:target=level"][..],
        &["data", "check", "digits"],
        &[&["train", "sgd", "--data", "mine.csv:target=level"][..], &quick].concat(),
        &[&["train", "sgd", "--data", "digits"][..], &quick].concat(),
        &[&["train", "sgd", "--data", "yacht"][..], &quick].concat(),
        &["plan", "own.toml"],
        &["run", "own.toml"],
        &["plan", "built-in.toml"],
        &["run", "built-in.toml"],
    ] {
        let output = without_home(words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for words in [
        &["data", "check", "mnist"][..],
        &["train", "sgd", "--data", "mnist", "-o", "p"],
        &["plan", "named.toml"],
        &["run", "named.toml"],
        &["run", "ood.toml"],
    ] {
        let output = without_home(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("set DUBIO_DATA"), "{words:?}: {said}");
    }
}

/// Greys of the training, test and OOD images, or numbers in their place. They go from this value upwards.
#[derive(Clone, Copy)]
struct Values {
    train: u8,
    test: u8,
    ood: u8,
}

fn png(path: &Path, grey: u8) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    let mut encoder = png::Encoder::new(fs::File::create(path).expect("made"), 6, 6);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().expect("written");
    let pixels: Vec<u8> = (0..36).map(|pixel| grey + pixel / 3).collect();
    writer.write_image_data(&pixels).expect("written");
}

fn image_folder(folder: &Path, values: Values) {
    for (class, half, from) in [
        ("a", "data/train", values.train),
        ("b", "data/train", values.train + 40),
        ("a", "data/test", values.test),
        ("b", "data/test", values.test + 40),
        (".", "ood", values.ood),
        (".", "fixed", 90),
    ] {
        for index in 0..4 {
            png(&folder.join(half).join(class).join(format!("{index}.png")), from + index);
        }
    }
}

fn array_folder(folder: &Path, values: Values) {
    let write = |place: &str, bytes: Vec<u8>| {
        let path = folder.join(place);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, bytes).expect("written");
    };
    let x = |from: u8| {
        let values: Vec<f64> = (0..8).map(|row| f64::from(from + 5 * row)).collect();
        npy::array("<f8", &[8, 1], &values)
    };
    let y = || npy::array("<i8", &[8], &[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    for (half, from) in [("train", values.train), ("test", values.test)] {
        write(&format!("data/x_{half}.npy"), x(from));
        write(&format!("data/y_{half}.npy"), y());
    }
    write("ood/x.npy", x(values.ood));
    write("fixed/x.npy", x(90));
}

fn table(folder: &Path, values: Values) {
    let rows = |from: u8, more: [&str; 2]| -> String {
        let end = |row: u8| more[usize::from(row >= 4)];
        (0..8).map(|row| format!("{},{}\n", from + 5 * row, end(row))).collect()
    };
    let train = rows(values.train, ["low,train", "high,train"]);
    let test = rows(values.test, ["low,test", "high,test"]);
    let write = |name: &str, text: String| fs::write(folder.join(name), text).expect("written");
    write("data.csv", format!("x,level,split\n{train}{test}"));
    write("ood.csv", format!("x,level\n{}", rows(values.ood, ["low", "high"])));
    write("fixed.csv", format!("x,level\n{}", rows(90, ["low", "high"])));
}

/// That what inputs are scaled by comes from the training set alone, not from the test set, nor from the set
/// that is predicted.
fn scaled_by_the_training_set(ending: &str, write: fn(&Path, Values)) {
    // What a network trained on such data predicts for data that are always the same, and for the OOD set.
    let predictions = |train, test, ood| {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        write(folder, Values { train, test, ood });
        let data = format!("./data{ending}");
        let words = ["train", "sgd", "--data", &data, "--network", "mlp-5", "--set", "epochs=2"];
        let [ood, fixed] = ["ood", "fixed"].map(|name| format!("./{name}{ending}={name}.npz"));
        let rest = ["--set", "batch=4", "-o", "p.npz", "--also", &ood, "--also", &fixed];
        done(folder, &[words, rest].concat());
        ["fixed.npz", "ood.npz"].map(|file| -> Vec<f64> {
            let arrays = read_arrays(&folder.join(file), &|name| name == "logits").expect(file);
            arrays.read["logits"].to_f64().expect("logits")
        })
    };
    let first = predictions(60, 60, 60);
    assert!(predictions(60, 180, 60) == first, "the test set matters");
    let [fixed, far] = predictions(60, 60, 180);
    assert!(fixed == first[0], "the OOD set matters");
    let differences = far.iter().zip(&first[1]).map(|(a, b)| (a - b).abs());
    // A set that is scaled by itself is the same wherever it lies, but for rounding.
    assert!(differences.fold(0.0, f64::max) > 1e-3, "an OOD set is scaled by itself");
    assert!(predictions(180, 60, 60) != first, "the training set does not matter");
}

#[test]
fn images_are_scaled_by_the_training_set_alone() {
    scaled_by_the_training_set("", image_folder);
}

#[test]
fn arrays_are_scaled_by_the_training_set_alone() {
    scaled_by_the_training_set("", array_folder);
}

#[test]
fn tables_are_scaled_by_the_training_set_alone() {
    scaled_by_the_training_set(".csv", table);
}

#[test]
fn the_record_of_a_run_says_how_its_data_were_read() {
    let folder = folder();
    let folder = folder.path();
    let data = "mine.csv:target=level,test=0.25,seed=7";
    let method = "[[methods]]\nmethod = \"sgd\"\nepochs = 1\nbatch = 4\n";
    let suite = format!("data = [\"{data}\"]\nnetworks = [\"mlp-5\"]\n{method}");
    fs::write(folder.join("s.toml"), suite).expect("written");
    done(folder, &["run", "s.toml"]);
    let runs = fs::read_dir(folder.join("runs")).expect("runs").flatten();
    let record = runs.map(|run| run.path().join("record.json")).find(|path| path.is_file());
    let record = json(&fs::read_to_string(record.expect("a run")).expect("a record"));
    let how = "a random 0.25 of the examples is the test set, stratified by class, seed 7";
    assert_eq!(record["data"]["split"], how);
    assert_eq!(record["data"]["one_hot"], "site: s0, s1, s2, s3");
    let sum = Command::new("sha256sum").arg(folder.join("mine.csv")).output().expect("sha256sum");
    let sum = String::from_utf8(sum.stdout).expect("text")[..64].to_string();
    assert_eq!(record["data"]["sha256"], sum[..]);
    assert_eq!(record["settings"]["data_sha256"], sum[..]);
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
