//! Scores of a run are worked out once and kept beside it; what is kept is never believed where it is not theirs.

#[allow(dead_code)] // the other tests use the rest of it
mod small_study;

use std::fs;
use std::path::{Path, PathBuf};

use small_study::{SUITE, Study, text};

/// What a run keeps beside its predictions; the last only the first run of a method.
const KEPT: [&str; 3] = ["scores.json", "views.json", "growth.json"];

/// The folders of the finished runs.
fn folders(study: &Study) -> Vec<PathBuf> {
    let list = text(&study.dubio(&["runs", "list"]).stdout);
    list.lines().skip(1).map(|line| study.runs().join(&line[..16])).collect()
}

/// Every kept file that is there, with its bytes.
fn kept(study: &Study) -> Vec<(PathBuf, Vec<u8>)> {
    let all = folders(study).into_iter().flat_map(|run| KEPT.map(|name| run.join(name)));
    all.filter_map(|path| fs::read(&path).ok().map(|bytes| (path, bytes))).collect()
}

/// The page and the table of a study, as they are made now.
fn results(study: &Study) -> (String, String) {
    let told = study.run(&[]);
    let page = fs::read_to_string(study.runs().join("small.html")).expect("a page");
    (page, text(&told.stdout))
}

fn csv(study: &Study) -> String {
    text(&study.dubio(&["score", "runs", "--resamples", "40"]).stdout)
}

#[test]
fn results_are_the_same_with_and_without_what_was_kept() {
    let study = Study::new(SUITE);
    let first = results(&study);
    let files = kept(&study);
    assert_eq!(files.len(), 2 * 6 + 3, "scores and views of six runs, growth of three methods");
    assert!(first == results(&study), "read");
    assert!(files == kept(&study), "and not written again");
    for damage in [truncate, empty, flip_a_digit, of_another_run, forget] {
        kept(&study).iter().for_each(|(path, bytes)| damage(&study, path, bytes));
        assert!(first == results(&study), "worked out again");
        assert!(files == kept(&study), "and repaired");
    }
    let all = csv(&study);
    assert!(all.lines().count() > 100 && all == csv(&study), "read");
    assert!(first == results(&study), "other intervals are others");
    assert!(all == csv(&study), "worked out again");
}

fn truncate(_: &Study, path: &Path, bytes: &[u8]) {
    fs::write(path, &bytes[..bytes.len() / 2]).expect("written");
}

fn empty(_: &Study, path: &Path, _: &[u8]) {
    fs::write(path, "").expect("written");
}

/// The last digit, so that it is JSON still.
fn flip_a_digit(_: &Study, path: &Path, bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    let at = bytes.iter().rposition(u8::is_ascii_digit).expect("a digit");
    bytes[at] ^= 1;
    fs::write(path, bytes).expect("written");
}

fn of_another_run(study: &Study, path: &Path, _: &[u8]) {
    let name = path.file_name().expect("a name");
    let mut others = folders(study).into_iter().map(|run| run.join(name));
    let other = others.rfind(|other| other != path && other.exists());
    // The last of its kind has no other that is still its own; it is cut instead.
    let bytes = other.map_or(b"{}".to_vec(), |other| fs::read(other).expect("a file"));
    fs::write(path, bytes).expect("written");
}

fn forget(_: &Study, path: &Path, _: &[u8]) {
    fs::remove_file(path).expect("removed");
}

/// Changes a kept accuracy and its checksum, as no accident would.
fn forge(path: &Path) {
    let whole = fs::read_to_string(path).expect("a file");
    let (head, value) = whole.split_once(r#"","value":"#).expect("a value");
    let value = value.strip_suffix("}\n").expect("an end");
    let (before, rest) = value.split_once(r#"{"Ok":"#).expect("an accuracy");
    let (_, after) = rest.split_once('}').expect("its end");
    let value = format!(r#"{before}{{"Ok":0.125}}{after}"#);
    let sum = crc32fast::hash(value.as_bytes());
    let head = &head[..head.len() - 8];
    fs::write(path, format!(r#"{head}{sum:08x}","value":{value}}}{}"#, "\n")).expect("written");
}

#[test]
fn scores_are_read_until_the_predictions_are_others() {
    let study = Study::new(&SUITE.replace("seeds = 2", "seeds = 1"));
    study.run(&[]);
    let honest = csv(&study);
    let run = &folders(&study)[0];
    forge(&run.join("scores.json"));
    assert!(csv(&study).contains(",0.125,"), "what is kept is read");
    let test = run.join("test.npz");
    let bytes = fs::read(&test).expect("predictions");
    fs::write(&test, bytes).expect("the same again");
    assert!(csv(&study) == honest, "a file that was written again may be another");
}

#[test]
fn what_is_kept_goes_with_its_run_and_several_may_write_it() {
    let study = Study::new(&SUITE.replace("seeds = 2", "seeds = 1"));
    study.run(&[]);
    let arguments = ["score", "runs", "--resamples", "40"];
    let together: Vec<_> = (0..4)
        .map(|_| study.command(&arguments).stdout(std::process::Stdio::piped()).spawn())
        .collect();
    let alone = csv(&study);
    for process in together {
        let output = process.and_then(|process| process.wait_with_output()).expect("dubio runs");
        assert!(text(&output.stdout) == alone);
    }
    let run = folders(&study).remove(0);
    let leftovers = fs::read_dir(&run).expect("a run").flatten();
    assert!(
        leftovers
            .map(|e| e.file_name())
            .all(|name| !text(name.as_encoded_bytes()).starts_with('.'))
    );
    let id = run.file_name().expect("a name").to_string_lossy();
    assert!(study.dubio(&["runs", "rm", &id]).status.success());
    assert!(!run.exists());
}

#[test]
fn a_score_that_a_run_cannot_have_says_why() {
    let suite = "data = [\"yacht:standard/1\"]\nnetworks = [\"mlp-20\"]\n[[methods]]\nmethod = \"sgd\"\nepochs = 5\n";
    let study = Study::new(suite);
    study.run(&[]);
    for _ in 0..2 {
        let rows = csv(&study);
        assert!(rows.contains(",pinball,,,,31,needs a file of quantiles and levels"), "{rows}");
    }
}
