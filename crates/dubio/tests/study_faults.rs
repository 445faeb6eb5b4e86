//! What befalls a study: a full disk, a folder that cannot be written, damaged checkpoints, a clock
//! that jumps. Afterwards it ends with the bytes of an undisturbed one.
//!
//! Disks are mounted in a namespace of their own, and the clock is `faketime`'s; where the system allows
//! no namespace or `faketime` is not installed, the tests are reported as ignored.

#[allow(dead_code)] // the other tests use the rest of it
mod small_study;

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use small_study::{SUITE, Study, predictions, text};

fn main() -> ExitCode {
    let mounts = Command::new("unshare")
        .args(["--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !mounts {
        eprintln!(
            "note: `unshare --mount` is not allowed: full and read-only disks are not tested"
        );
    }
    if clock_library().is_none() {
        eprintln!("note: faketime is not installed: a clock that jumps is not tested");
    }
    let trial = |name: &str, ready: bool, test: fn()| {
        let run = move || std::panic::catch_unwind(test).map_err(|_| Failed::without_message());
        Trial::test(name, run).with_ignored_flag(!ready)
    };
    let clock = clock_library().is_some();
    let trials = vec![
        trial(
            "a_full_disk_is_told_and_room_mends_it",
            mounts,
            a_full_disk_is_told_and_room_mends_it,
        ),
        trial("a_read_only_folder_is_told", mounts, a_read_only_folder_is_told),
        trial("damaged_checkpoints_are_found_out", true, damaged_checkpoints_are_found_out),
        trial("a_killed_trial_is_no_bad_trial", true, a_killed_trial_is_no_bad_trial),
        trial("a_clock_that_jumps_changes_nothing", clock, a_clock_that_jumps_changes_nothing),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn undisturbed(suite: &str) -> BTreeMap<String, Vec<u8>> {
    let study = Study::new(suite);
    study.run(&[]);
    predictions(&study.runs())
}

/// Runs a script in a namespace of its own, in the study's folder; `$0` is the program.
fn apart(study: &Study, script: &str) -> Output {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-euc", script]);
    command.arg(env!("CARGO_BIN_EXE_dubio")).current_dir(study.folder.path());
    command.output().expect("unshare runs")
}

fn a_full_disk_is_told_and_room_mends_it() {
    let expected = undisturbed(SUITE);
    // Full at once, at the first checkpoint, at the first predictions, after some runs.
    for kilobytes in [12, 48, 120, 400, 800] {
        let study = Study::new(SUITE);
        std::fs::create_dir(study.runs()).expect("made");
        let script = format!(
            "mount -t tmpfs -o size={kilobytes}k disk runs\n\
             if \"$0\" run small.toml >/dev/null 2>full; then exit 9; fi\n\
             mount -o remount,size=100m runs\n\
             \"$0\" run small.toml >/dev/null\n\
             cp -r runs kept"
        );
        let output = apart(&study, &script);
        let said = std::fs::read_to_string(study.folder.path().join("full")).expect("told");
        assert!(output.status.success(), "{kilobytes}: {}\n{said}", text(&output.stderr));
        assert!(said.contains("No space left on device"), "{kilobytes}: {said}");
        assert!(said.contains("free some space or choose another"), "{kilobytes}: {said}");
        assert!(predictions(&study.folder.path().join("kept")) == expected, "{kilobytes}");
    }
}

fn a_read_only_folder_is_told() {
    let study = Study::new(SUITE);
    study.run(&["--only", "method=sgd"]);
    let script = "mount --bind runs runs && mount -o remount,bind,ro runs\n\
                  \"$0\" score runs --scores accuracy --resamples 0 >scores.csv\n\
                  \"$0\" runs list >list\n\
                  \"$0\" plan small.toml >planned\n\
                  if \"$0\" run small.toml >/dev/null 2>refused; then exit 9; fi";
    let output = apart(&study, script);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(study.folder.path().join(name)).expect(name);
    assert_eq!(read("scores.csv").lines().count(), 1 + 2 * 2, "what is there can be looked at");
    assert_eq!(read("list").lines().count(), 1 + 2);
    assert!(read("planned").contains("6 runs, 4 to do"), "{}", read("planned"));
    let said = read("refused");
    assert!(said.contains("runs: ") && said.contains("Read-only file system"), "{said}");
    assert!(said.contains("choose another folder with --runs"), "{said}");
}

/// Long enough to be interrupted with a checkpoint and some samples.
const CHAIN: &str = r#"
data = ["digits"]
networks = ["mlp-20"]
seeds = 1

[[methods]]
method = "sghmc"
burn_in = 10
samples = 200
lr = 0.01
"#;

/// Interrupts a study when it has some samples.
fn interrupted(study: &Study) -> PathBuf {
    let mut command = study.command(&["run", "small.toml"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let child = command.spawn().expect("dubio runs");
    let began = Instant::now();
    let chain = loop {
        assert!(began.elapsed() < Duration::from_secs(60), "no samples after a minute");
        std::thread::sleep(Duration::from_millis(5));
        let Ok(mut runs) = std::fs::read_dir(study.runs().join(".checkpoints")) else { continue };
        let Some(Ok(run)) = runs.next() else { continue };
        let chain = run.path().join("member-0");
        if chain.join("point-3.safetensors").exists() {
            break chain;
        }
    };
    let group = format!("-{}", child.id()); // the worker as well, as Ctrl-C does
    Command::new("kill").args(["-INT", "--", &group]).status().expect("kill runs");
    child.wait_with_output().expect("ended");
    assert!(chain.join("state.safetensors").exists(), "a stop leaves a checkpoint");
    chain
}

fn damaged_checkpoints_are_found_out() {
    let expected = undisturbed(CHAIN);
    let cut = |path: &Path| {
        let bytes = std::fs::read(path).expect("a file");
        std::fs::write(path, &bytes[..bytes.len() / 2]).expect("written");
    };
    let flipped = |path: &Path| {
        let mut bytes = std::fs::read(path).expect("a file");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(path, bytes).expect("written");
    };
    let gone = |path: &Path| std::fs::remove_file(path).expect("removed");
    type Damage<'a> = &'a dyn Fn(&Path);
    let damages: [(&str, &str, Damage<'_>); 5] = [
        ("state", "is damaged", &cut),
        ("state", "is damaged", &flipped),
        ("point-1", "is damaged", &flipped),
        ("point-2", "No such file", &gone),
        ("point-0", "is damaged", &|path| std::fs::write(path, "").expect("written")),
    ];
    for (name, what, damage) in damages {
        let study = Study::new(CHAIN);
        let path = interrupted(&study).join(format!("{name}.safetensors"));
        damage(&path);
        let said = text(&study.run(&[]).stderr);
        assert!(said.contains("sghmc, seed 0 starts over: "), "{name}: {said}");
        assert!(said.contains(&format!("{name}.safetensors: ")) && said.contains(what), "{said}");
        assert!(predictions(&study.runs()) == expected, "{name}");
    }
    let sound = Study::new(CHAIN);
    interrupted(&sound);
    let said = text(&sound.run(&[]).stderr);
    assert!(!said.contains("begins again") && predictions(&sound.runs()) == expected, "{said}");
}

const SEARCH: &str = r#"
data = ["digits"]
networks = ["mlp-20"]
seeds = 1

[search]
kind = "random"
budget = 2

[[methods]]
method = "sghmc"
burn_in = 3000
samples = 2
lr = { from = 0.001, to = 0.01, scale = "log" }
"#;

/// A search that took what was killed for bad would choose other settings.
fn a_killed_trial_is_no_bad_trial() {
    let expected = undisturbed(SEARCH);
    let study = Study::new(SEARCH);
    let mut command = study.command(&["run", "small.toml", "--jobs", "1"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("runs");
    let parent = child.id().to_string();
    let began = Instant::now();
    while !Command::new("pkill").args(["-9", "-P", &parent]).status().expect("runs").success() {
        assert!(began.elapsed() < Duration::from_secs(60), "no worker after a minute");
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().expect("ended");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("trial 1") && said.contains("the worker died (signal: 9"), "{said}");
    assert!(said.contains("1 of 2 runs failed; the same command tries them again"), "{said}");
    study.run(&[]);
    assert!(predictions(&study.runs()) == expected);
}

fn clock_library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let all = folders.map(|folder| folder.join("faketime/libfaketimeMT.so.1"));
    all.into_iter().find(|path| path.exists())
}

/// Both clocks of the system, that of the wall and that of durations, jump by years several times a
/// second.
fn a_clock_that_jumps_changes_nothing() {
    let expected = undisturbed(SUITE);
    let study = Study::new(SUITE);
    let clock = study.folder.path().join("clock");
    let set = |offset: &str| std::fs::write(&clock, offset).expect("written");
    set("+0\n");
    let mut command = study.command(&["run", "small.toml"]);
    command.env("LD_PRELOAD", clock_library().expect("found before"));
    command.env("FAKETIME_TIMESTAMP_FILE", &clock).env("FAKETIME_NO_CACHE", "1");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("runs");
    let mut jumps = 0;
    while child.try_wait().expect("a child").is_none() {
        set(["-1000000\n", "+90000000\n", "+3\n", "-70000000\n"][jumps % 4]);
        jumps += 1;
        assert!(jumps < 6000, "it waits for the clock");
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().expect("ended");
    assert!(output.status.success() && jumps > 10, "{jumps}: {}", text(&output.stderr));
    assert!(predictions(&study.runs()) == expected);
    for id in expected.keys().map(|name| &name[..16]) {
        let record = std::fs::read(study.runs().join(id).join("record.json")).expect("a record");
        let record: Value = serde_json::from_slice(&record).expect("JSON");
        for (name, value) in record["spent"].as_object().expect("a table") {
            let number = value.as_f64().expect("a number");
            assert!(number.is_finite() && number >= 0.0, "{name} = {number}");
        }
    }
}
