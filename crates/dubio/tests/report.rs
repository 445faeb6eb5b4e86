//! `dubio report` as a user meets it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    path.to_str().expect("a path").to_string()
}

fn report(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dubio"))
        .arg("report")
        .args(arguments)
        .args(["--resamples", "40"])
        .current_dir(folder)
        .output()
        .expect("dubio runs")
}

fn done(folder: &Path, arguments: &[&str]) -> Vec<PathBuf> {
    let output = report(folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written = String::from_utf8(output.stdout).expect("text");
    written.lines().map(|line| folder.join(line)).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = report(folder, arguments);
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn a_file_has_a_page_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = done(folder.path(), &[&fixture("ensemble.npz")]);
    assert_eq!(written, [folder.path().join("report.html")]);
    let page = read(&written[0]);
    assert!(page.contains("ensemble: accuracy 77.5 %"), "the same accuracy as `dubio evaluate`");
    for section in ["reliability", "checks", "selective", "decomposition", "members", "all"] {
        assert!(page.contains(&format!("id=\"c0-{section}\"")), "{section}");
    }
    assert!(!page.contains("id=\"c0-shift\""), "a section without data is not there");
}

#[test]
fn predictions_of_other_splits_beside_the_test_part_are_reported_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("model");
    std::fs::create_dir(&model).expect("a folder");
    for (from, to) in [
        ("ensemble.npz", "test.npz"),
        ("ensemble.npz", "shift.fog.1.npz"),
        ("ensemble-ood.npz", "ood.far.npz"),
    ] {
        std::fs::copy(fixture(from), model.join(to)).expect("a copy");
    }
    let page = read(&done(folder.path(), &["model", "-o", "page.html"])[0]);
    for section in ["shift", "ood"] {
        assert!(page.contains(&format!("id=\"c0-{section}\"")), "{section}");
    }
    assert!(page.contains("ood.far.auroc.total"));
}

#[test]
fn groups_and_costs_have_sections() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, costs) = (fixture("ensemble.npz"), fixture("ensemble.costs.csv"));
    let arguments = [&file[..], "--groups", "--costs", &costs, "--format", "markdown"];
    let text = read(&done(folder.path(), &arguments)[0]);
    assert!(text.contains("### accuracy by group") && text.contains("| worst"), "{text}");
    assert!(text.contains("### What the decisions cost"), "{text}");
}

#[test]
fn every_format_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [fixture("gaussians.npz"), fixture("gaussian.npz")];
    for (format, name, inside) in [
        ("markdown", "report.md", "| 1 | many |"),
        ("latex", "tables.tex", "\\toprule"),
        ("csv", "runs.csv", "run,data,network,method,seed,members,split,score,value,lo,hi,n,why"),
        ("csv", "methods.csv", "data,network,method,split,score,runs,of,mean,std,lo,hi,why"),
        ("svg", "coverage.svg", "<svg"),
        ("pdf", "coverage.pdf", "%PDF-1.4"),
    ] {
        let arguments =
            [&files[0][..], &files[1], "--names", "many,one", "--format", format, "-o", "out"];
        let written = done(folder.path(), &arguments);
        let path = folder.path().join("out").join(name);
        assert!(written.contains(&path), "{format}: {written:?}");
        assert!(read(&path).contains(inside), "{format}");
    }
}

#[test]
fn a_baseline_makes_deep_ensemble_equivalents() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = fixture("gaussians.npz");
    let arguments =
        [&file[..], &fixture("gaussian.npz"), "--names", "many,one", "--baseline", "many"];
    let page = read(&done(folder.path(), &arguments)[0]);
    assert!(page.contains("Deep ensemble equivalents by NLL"));
    let said = refused(folder.path(), &[&file, "--baseline", "few"]);
    assert!(said.contains("the models are gaussians"), "{said}");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = fixture("ensemble.npz");
    let bytes = |name: &str| read(&done(folder.path(), &[&file, "-o", name])[0]);
    assert_eq!(bytes("a.html"), bytes("b.html"));
}

#[test]
fn mistakes_are_told_with_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let (classes, numbers) = (fixture("ensemble.npz"), fixture("gaussian.npz"));
    let here = folder.path();
    for (arguments, said) in [
        (vec!["nowhere.npz"], "there is no such file or folder"),
        (vec![&classes[..], &numbers], "holds a regression"),
        (vec![&classes[..], "--names", "a,b"], "--names gives 2 names for 1 files"),
        (vec![&classes[..], "--study", "quick"], "--study is for a folder of runs"),
        (vec![&classes[..], "-o", "."], "is a folder; name a file"),
        (vec![&numbers[..], "--costs", &classes], "--costs is for classification"),
        (vec!["."], "holds no"),
    ] {
        let text = refused(here, &arguments);
        assert!(text.contains(said), "{arguments:?}: {text}");
    }
}
