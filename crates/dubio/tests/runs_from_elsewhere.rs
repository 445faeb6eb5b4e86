//! A folder of runs that somebody else made: nothing in it leads out of it.
#![cfg(unix)]

#[allow(dead_code)] // the other tests use the rest of it
mod small_study;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use small_study::{Study, text};

const SUITE: &str =
    "data = \"digits\"\nnetworks = \"mlp-5\"\n[[methods]]\nmethod = \"sgd\"\nepochs = 1\n";

/// A study of one finished run with its id, and a folder beside the runs that nobody may touch.
fn study() -> (Study, String, PathBuf) {
    let study = Study::new(SUITE);
    study.run(&[]);
    let ids = fs::read_dir(study.runs()).expect("runs").map(|e| e.expect("an entry").file_name());
    let ids: Vec<String> = ids.map(|name| name.to_string_lossy().to_string()).collect();
    let id = ids.into_iter().find(|name| name.len() == 16).expect("a run");
    let victim = study.folder.path().join("victim");
    fs::create_dir(&victim).expect("made");
    fs::write(victim.join("kept"), "kept").expect("written");
    (study, id, victim)
}

fn is_whole(victim: &Path) -> bool {
    let files = fs::read_dir(victim).expect("the folder is there").count();
    files == 1 && fs::read(victim.join("kept")).is_ok_and(|bytes| bytes == b"kept")
}

#[test]
fn what_a_record_says_of_its_id_is_not_believed() {
    let (study, id, victim) = study();
    let path = study.runs().join(&id).join("record.json");
    let record = fs::read_to_string(&path).expect("a record");
    for other in [format!("{id}/../../victim"), "../victim".into(), "0123456789abcdef".into()] {
        let lying = record.replacen(&format!("\"{id}\""), &format!("{other:?}"), 1);
        assert_ne!(lying, record);
        fs::write(&path, lying).expect("written");
        let listed = study.dubio(&["runs", "list"]);
        assert_eq!(listed.status.code(), Some(2), "{other}");
        assert!(text(&listed.stderr).contains("remove the run"), "{}", text(&listed.stderr));
        assert!(is_whole(&victim));
    }
    let removed = study.dubio(&["runs", "rm", &id]);
    assert_eq!(removed.status.code(), Some(0), "{}", text(&removed.stderr));
    assert!(is_whole(&victim) && !study.runs().join(&id).exists());
    for outside in ["../victim", ".", "..", ".work", "small.html"] {
        assert_eq!(study.dubio(&["runs", "rm", outside]).status.code(), Some(2), "{outside}");
    }
    assert!(is_whole(&victim));
}

#[test]
fn a_run_that_is_a_link_is_removed_and_not_where_it_leads() {
    let (study, id, victim) = study();
    fs::rename(study.runs().join(&id), victim.join("run")).expect("moved");
    symlink(victim.join("run"), study.runs().join(&id)).expect("linked");
    symlink(&victim, study.runs().join(".work").join(&id)).expect("linked");
    let removed = study.dubio(&["runs", "rm", &id]);
    assert_eq!(removed.status.code(), Some(0), "{}", text(&removed.stderr));
    assert!(victim.join("run/record.json").is_file() && victim.join("kept").is_file());
    assert!(!study.runs().join(&id).is_symlink() && !study.runs().join(".work").join(&id).exists());
}

/// Each of what a run writes, as a link: the run is refused, and nothing is made or cut off behind it.
#[test]
fn nothing_is_locked_or_written_through_a_link() {
    let (study, id, victim) = study();
    let run = study.runs().join(&id);
    for place in [
        format!(".locks/{id}"),
        format!(".checkpoints/{id}"),
        ".locks".into(),
        ".checkpoints".into(),
        ".work".into(),
        ".studies".into(),
    ] {
        let link = study.runs().join(&place);
        for folder in [&run, &link] {
            let _ = fs::remove_dir_all(folder);
        }
        let _ = fs::remove_file(&link);
        fs::create_dir_all(link.parent().expect("a folder")).expect("made");
        let to = if place.starts_with(".locks/") { victim.join("kept") } else { victim.clone() };
        symlink(&to, &link).expect("linked");
        let output = study.dubio(&["run", "small.toml"]);
        assert_eq!(output.status.code(), Some(2), "{place}");
        let said = text(&output.stderr);
        assert!(said.contains("is a link or not a regular file; remove it"), "{place}: {said}");
        assert!(is_whole(&victim), "{place}");
        fs::remove_file(&link).expect("a link still");
    }
    // A checkpoint's own lock, whoever names the folder.
    let checkpoints = study.folder.path().join("ckpt/member-0");
    fs::create_dir_all(&checkpoints).expect("made");
    symlink(victim.join("kept"), checkpoints.join("lock")).expect("linked");
    let train = ["train", "sgd", "--data", "digits", "--set", "epochs=1", "-o", "a.npz"];
    let output = study.dubio(&[&train[..], &["--checkpoints", "ckpt"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(is_whole(&victim), "{}", text(&output.stderr));
    study.run(&[]);
}

#[test]
fn a_suite_is_not_called_like_a_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let package = folder.path().join("package.html");
    fs::write(&package, "kept").expect("written");
    let absolute = folder.path().join("package").display().to_string();
    for name in ["../../package", "../package", &absolute[..], "", ".", "..", "two\nlines", "a/b"] {
        let suite = format!("name = {name:?}\n{SUITE}");
        let study = Study::new(&suite);
        let output = study.dubio(&["run", "small.toml"]);
        assert_eq!(output.status.code(), Some(2), "{name:?}");
        let said = text(&output.stderr);
        assert!(said.contains("small.toml:1:8: `name`: the name"), "{name:?}: {said}");
        assert!(!study.runs().exists());
    }
    assert_eq!(fs::read(&package).expect("there"), b"kept");
}

/// A study's file may come from elsewhere too; what its name says is only believed where it is one.
#[test]
fn a_study_that_is_called_like_a_path_is_left_out() {
    let (study, _, _) = study();
    let path = study.runs().join(".studies/small.json");
    let saved = fs::read_to_string(&path).expect("a study");
    fs::write(&path, saved.replacen("\"small\"", "\"../small\"", 1)).expect("written");
    let output = study.dubio(&["report", "runs", "--study", "../small", "-o", "a.html"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}
