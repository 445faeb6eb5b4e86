//! The program as a newcomer meets it: lists, help, completions, manual pages, colours, progress, signals,
//! pipes, and messages that can be copied.

#[allow(dead_code)] // the other tests use the rest of it
mod small_study;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use small_study::{Study, text};
use tempfile::TempDir;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    path.to_str().expect("a path").to_string()
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dubio"));
    command.args(arguments).env_remove("NO_COLOR");
    command
}

fn dubio(arguments: &[&str]) -> Output {
    command(arguments).output().expect("dubio runs")
}

#[track_caller]
fn printed(arguments: &[&str]) -> String {
    let output = dubio(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn a_list_alone_lists_the_lists_and_each_of_them_can_be_typed() {
    let lists = printed(&["list"]);
    let mut names = Vec::new();
    for line in lists.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, count) = (words[2], words[3].parse::<usize>().expect("a number"));
        let all = printed(&["list", name, "--json"]);
        let all: Vec<serde_json::Value> = serde_json::from_str(&all).expect("a list");
        assert_eq!(all.len(), count, "{name}");
        assert!(printed(&["list", name]).lines().count() >= count, "{name}");
        names.push(name.to_string());
    }
    assert_eq!(names, ["scores", "methods", "networks", "shifts", "data", "suites"]);
}

#[test]
fn help_promises_no_time() {
    for arguments in [&["--help"][..], &["run", "--help"]] {
        let help = printed(arguments);
        assert!(!help.contains("minute") && !help.contains("hour"), "{help}");
    }
}

#[test]
fn shells_get_completions_of_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&["completions", shell]);
        assert!(script.contains("evaluate") && script.contains("no-intervals"), "{shell}");
    }
    let path = folder();
    let file = path.path().join("dubio.bash");
    std::fs::write(&file, printed(&["completions", "bash"])).expect("written");
    // A shell reads the script, and completes a command with it.
    let typed = format!(
        "source {}; COMP_WORDS=(dubio calib); COMP_CWORD=1; _dubio dubio calib dubio; echo $COMPREPLY",
        file.display()
    );
    let output = Command::new("bash").args(["-c", &typed]).output().expect("bash runs");
    assert_eq!(text(&output.stdout).trim(), "calibrate", "{}", text(&output.stderr));
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = folder();
    let new = folder.path().join("share/man1");
    printed(&["man", new.to_str().expect("a path")]);
    for page in ["dubio.1", "dubio-evaluate.1", "dubio-data-fetch.1", "dubio-runs-list.1"] {
        let text = std::fs::read_to_string(new.join(page)).expect(page);
        assert!(text.contains(".SH NAME") && text.contains(".SH OPTIONS"), "{page}");
    }
    assert!(!new.join("dubio-work.1").exists(), "a command of our own");
}

/// A file with an array that means nothing.
fn with_a_note(folder: &Path) -> PathBuf {
    let path = folder.join("p.csv");
    std::fs::write(&path, "probs,label,id\n0.25,0,a\n0.5,1,b\n0.75,0,c\n").expect("written");
    path
}

#[test]
fn quiet_leaves_notes_out_and_verbose_tells_the_stages() {
    let folder = folder();
    let path = with_a_note(folder.path());
    let path = path.to_str().expect("a path");
    let said = |more: &[&str]| {
        let output = dubio(&[&["evaluate", path], more].concat());
        assert!(output.status.success());
        text(&output.stderr)
    };
    assert_eq!(said(&[]), format!("note: {path}: not used: id\n"));
    assert_eq!(said(&["-q"]), "");
    let verbose = said(&["-v"]);
    assert!(verbose.contains("s  reading (3)") && verbose.contains("not used: id"), "{verbose}");
    assert_eq!(dubio(&["list", "-q", "-v"]).status.code(), Some(2), "both");
    // A warning is more than a note.
    let logits = folder.path().join("l.csv");
    std::fs::write(&logits, "logits.0,logits.1,label\n0.5,0.5,0\n0.25,0.75,0\n").expect("written");
    let output = dubio(&["evaluate", logits.to_str().expect("a path"), "-q", "--scores", "nll"]);
    assert!(text(&output.stderr).starts_with("warning: "), "{}", text(&output.stderr));
}

/// What a terminal is shown; `None` where `script`, which makes one, is not installed.
fn on_a_terminal(command: &str, environment: &[(&str, &str)]) -> Option<String> {
    let line = command.replace("dubio ", &format!("{} ", env!("CARGO_BIN_EXE_dubio")));
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).env_remove("NO_COLOR").env("TERM", "xterm");
    script.envs(environment.iter().copied()).stdin(Stdio::null());
    Some(text(&script.output().ok()?.stdout))
}

#[cfg(target_os = "linux")]
#[test]
fn colours_are_for_terminals_that_want_them() {
    let file = fixture("ensemble.npz");
    let table = format!("dubio evaluate {file} --scores nll --no-intervals");
    let wrong = "dubio evaluate nothing.npz";
    let Some(shown) = on_a_terminal(&table, &[]) else { return };
    assert!(shown.contains("\u{1b}[1mscore"), "{shown:?}");
    let shown = on_a_terminal(wrong, &[]).expect("as before");
    assert!(shown.contains("\u{1b}[1;31merror:\u{1b}[0m nothing.npz"), "{shown:?}");
    for plain in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        for command in [&table, wrong] {
            let shown = on_a_terminal(command, &[plain]).expect("as before");
            assert!(shown.len() > 20 && !shown.contains('\u{1b}'), "{plain:?}: {shown:?}");
        }
    }
    assert!(!printed(&["evaluate", &file, "--scores", "nll"]).contains('\u{1b}'));
}

#[test]
fn a_log_gets_a_line_of_progress_once_in_a_while() {
    let file = fixture("ensemble.npz");
    let said = |seconds: Option<&str>, quiet: &[&str]| {
        let mut command = command(&[&["evaluate", &file, "--scores", "ece"], quiet].concat());
        command.envs(seconds.map(|seconds| ("DUBIO_PROGRESS_SECONDS", seconds)));
        text(&command.output().expect("dubio runs").stderr)
    };
    assert_eq!(said(None, &[]), "", "not within the first half minute");
    let often = said(Some("0"), &[]);
    assert!(often.lines().any(|line| line == "reading: 100 %"), "{often}");
    assert_eq!(said(Some("0"), &["--quiet"]), "");
}

/// Two networks, so that a table has to tell them apart.
const TWO_NETWORKS: &str = r#"
data = ["digits"]
networks = ["mlp-5", "mlp-7-7"]

[[methods]]
method = "sgd"
epochs = 1
"#;

#[test]
fn a_study_tells_its_networks_apart_lists_its_runs_and_says_how_far_it_is() {
    let study = Study::new(TWO_NETWORKS);
    let missing = study.dubio(&["runs", "list"]);
    assert_eq!(missing.status.code(), Some(2));
    assert_eq!(
        text(&missing.stderr),
        "error: there is no folder runs; name the folder of the runs with --runs, or make some with \
         `dubio run quick`\n"
    );
    let mut command = study.command(&["run", "small.toml"]);
    let output = command.env("DUBIO_PROGRESS_SECONDS", "0").output().expect("dubio runs");
    let said = text(&output.stderr);
    assert!(said.contains("2 of 2 runs done after "), "{said}");
    let table = text(&output.stdout);
    let head: Vec<&str> = table.lines().next().expect("a head").split_whitespace().collect();
    assert_eq!(head[..4], ["method", "data", "network", "runs"]);
    for network in ["mlp-5 ", "mlp-7-7 "] {
        assert_eq!(table.matches(network).count(), 1, "{table}");
    }
    let listed = text(&study.dubio(&["runs", "list"]).stdout);
    let lines: Vec<Vec<&str>> =
        listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["id", "method", "data", "network", "seed", "trained"]);
    assert_eq!(lines.len(), 3);
    let records = study.dubio(&["runs", "list", "--json"]).stdout;
    let records: Vec<serde_json::Value> = serde_json::from_slice(&records).expect("JSON");
    assert_eq!(records.len(), 2);
    assert!(records.iter().all(|r| lines[1..].iter().any(|line| r["id"] == line[0])));
    // With a single network the column would say the same in every row.
    let one = text(&study.dubio(&["run", "small.toml", "--only", "network=mlp-5"]).stdout);
    assert!(!one.lines().next().expect("a head").contains("network"), "{one}");
    // Either of one key, and all of different keys.
    let both = ["--only", "network=mlp-5", "--only", "network=mlp-7*", "--only", "seed=0"];
    let both = text(&study.dubio(&[&["run", "small.toml"][..], &both[..]].concat()).stdout);
    assert!(both.contains("mlp-5 ") && both.contains("mlp-7-7 "), "{both}");
}

#[test]
fn one_member_is_singular() {
    let folder = folder();
    let file = folder.path().join("p.npz");
    let file = file.to_str().expect("a path");
    let arguments = ["train", "sgd", "--data", "digits", "--set", "epochs=1", "-o", file];
    let said = printed(&arguments);
    assert!(said.contains(": 1 member, ") && said.contains("1 sample in "), "{said}");
}

#[test]
fn a_data_set_that_is_not_here_is_told_with_the_command_that_fetches_it() {
    let folder = folder();
    let dir = folder.path().to_str().expect("a path");
    let arguments = ["train", "sgd", "--data", "mnist", "--dir", dir, "-o", "p.npz"];
    let said = text(&dubio(&arguments).stderr);
    assert!(said.contains("fetch it first: `dubio data fetch mnist`, or set DUBIO_DATA"), "{said}");
    assert!(!said.contains("NAME"), "{said}");
}

#[test]
fn a_report_makes_the_folder_that_it_is_written_to() {
    let folder = folder();
    let page = folder.path().join("new/deep/x.html");
    printed(&["report", &fixture("ties.npz"), "-o", page.to_str().expect("a path")]);
    assert!(page.is_file());
    std::fs::write(folder.path().join("file"), "").expect("written");
    let inside = folder.path().join("file/x.html");
    let output = dubio(&["report", &fixture("ties.npz"), "-o", inside.to_str().expect("a path")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cannot make the folder"), "{}", text(&output.stderr));
}

#[test]
fn a_reader_that_stops_early_is_no_failure() {
    let file = fixture("ensemble.npz");
    for arguments in [
        &["list", "scores", "--json"][..],
        &["schema"],
        &["completions", "zsh"],
        &["evaluate", &file, "--json", "--no-intervals", "--groups"],
    ] {
        let mut command = command(arguments);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("dubio runs");
        let mut out = child.stdout.take().expect("a pipe");
        out.read_exact(&mut [0; 1]).expect("a byte");
        drop(out);
        let output = child.wait_with_output().expect("ended");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    }
}

#[cfg(unix)]
#[test]
fn nobody_to_listen_to_complaints_is_no_panic() {
    let program = env!("CARGO_BIN_EXE_dubio");
    let line = format!("\"{program}\" evaluate nothing.npz 2> >(exec <&-; sleep 0.2)");
    let output = Command::new("bash").args(["-c", &line]).output().expect("bash runs");
    assert_eq!(output.status.code(), Some(2), "101 would be a panic");
}

#[test]
fn knowledge_uncertainty_is_found_under_both_of_its_names() {
    let file = fixture("ensemble.npz");
    for (asked, known) in [
        ("misclassification.auroc.knowledge", "misclassification.auroc.model"),
        ("uncertainty.model", "uncertainty.knowledge"),
    ] {
        let scores = printed(&["evaluate", &file, "--json", "--no-intervals", "--scores", asked]);
        let scores: serde_json::Value = serde_json::from_str(&scores).expect("JSON");
        assert!(scores[known]["value"].is_number(), "{scores}");
        assert_eq!(printed(&["explain", asked]), printed(&["explain", known]));
    }
}

#[test]
fn options_that_are_explained_can_be_typed() {
    let help = printed(&["evaluate", "--help"]);
    for (score, expected) in
        [("ece", "--bins, --ece-edges"), ("tace", "--bins, --threshold"), ("picp", "--level")]
    {
        let explained = printed(&["explain", score]);
        let line = explained.lines().find_map(|line| line.trim().strip_prefix("options"));
        assert_eq!(line.map(str::trim), Some(expected), "{score}");
        for option in expected.split(", ") {
            assert!(help.contains(&format!("{option} <")), "{option}");
        }
    }
}

#[test]
fn an_option_that_changes_nothing_is_told() {
    let [file, costs] = [fixture("ensemble.npz"), fixture("ensemble.costs.csv")];
    let output = dubio(&["evaluate", &file, "--costs", &costs, "--scores", "accuracy"]);
    assert_eq!(
        text(&output.stderr),
        "warning: --costs changes nothing: --scores asks for no score that uses it; add \
         decision_cost\n"
    );
    let said = |options: &[&str]| {
        let output = dubio(&[&["evaluate", &file, "--no-intervals"][..], options].concat());
        text(&output.stderr).to_string()
    };
    assert_eq!(
        said(&["--ece-edges", "left-closed", "--threshold", "0.1", "--scores", "ace,uce"]),
        "warning: --ece-edges changes nothing: --scores asks for no score that uses it; add ece\n\
         warning: --threshold changes nothing: --scores asks for no score that uses it; add tace\n"
    );
    assert_eq!(
        said(&["--level", "0.5"]),
        "warning: --level changes nothing: no score of classification uses it\n"
    );
    for scores in ["ece", "calibrated.ece", "calibrated", "e*"] {
        assert_eq!(said(&["--bins", "4", "--scores", scores]), "", "{scores}");
    }
    let both =
        ["evaluate", &file, "--costs", &costs, "--scores", "decision_cost", "--no-intervals"];
    assert_eq!(text(&dubio(&both).stderr), "");
}
