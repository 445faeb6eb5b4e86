//! Every command of studies, word for word: `study_transcript.txt` is what a terminal shows, and this
//! test types it. `DUBIO_SNAPSHOTS=write cargo test` writes down what is printed now, to be read and
//! committed.
//!
//! A line `$ COMMAND` is run by a shell; what follows is its output, then its complaints behind `! `,
//! then its exit code where that is not 0. Ids, measured numbers and scores are blotted out.

#[allow(dead_code)] // the other tests use the rest of it
mod small_study;

use std::path::Path;
use std::process::Command;

use small_study::{SUITE, Study, text};

const WRONG: &str = "data = [\"digts\"]\nnetworks = [\"mlp\"]\n[[methods]]\nmethod = \"sgdd\"\n";

const ONE: &str =
    "data = [\"digits\"]\nnetworks = [\"mlp-20\"]\n\n[[methods]]\nmethod = \"sgd\"\nepochs = 3\n";

fn terminal() -> Study {
    let study = Study::new(SUITE);
    let write = |name: &str, suite: &str| {
        std::fs::write(study.folder.path().join(name), suite).expect("written");
    };
    write("wrong.toml", WRONG);
    write("one.toml", ONE);
    write("failing.toml", &SUITE.replace("lr = 0.01", "lr = 1e6"));
    study
}

fn typed(study: &Study, command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_dubio"));
    let folder = program.parent().expect("a folder").display();
    let path = format!("{folder}:{}", std::env::var("PATH").expect("a PATH"));
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(study.folder.path());
    shell.env("PATH", path).env("DUBIO", program).env_remove("COLUMNS").env_remove("DUBIO_DATA");
    let output = shell.output().expect("a shell");
    let mut all = text(&output.stdout);
    for line in text(&output.stderr).lines() {
        all += &format!("! {line}\n");
    }
    match output.status.code() {
        Some(0) => {}
        code => all += &format!("exit {}\n", code.unwrap_or(-1)),
    }
    all.lines().map(|line| blotted(line).trim_end().to_string() + "\n").collect()
}

/// Without what differs from machine to machine.
fn blotted(line: &str) -> String {
    let measured = ["_secs\": ", "peak_bytes\": "];
    if let Some(at) = measured.iter().find_map(|key| Some(line.find(key)? + key.len())) {
        return format!("{}N", &line[..at]);
    }
    // When a number is no longer one differs with the rounding of products.
    if let Some((before, rest)) = line.split_once("in epoch ")
        && let Some((_, after)) = rest.split_once("; ")
    {
        return format!("{before}in epoch E, step S; {}", blotted(after));
    }
    let begins_with_an_id = line.len() > 16 && line[..16].chars().all(|c| c.is_ascii_hexdigit());
    let line = match begins_with_an_id && line.ends_with(" s") {
        true => line.trim_end_matches(" s").trim_end_matches(|c: char| c.is_ascii_digit()),
        false => line,
    };
    let mut out = String::new();
    let mut word = String::new();
    for c in line.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() || c == '.' || c == '-' {
            word.push(c);
            continue;
        }
        out += &blotted_word(&word);
        word.clear();
        out.push(c);
    }
    out
}

/// Ids and numbers of four decimals or more.
fn blotted_word(word: &str) -> String {
    let hexadecimal = word.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    if hexadecimal && word.len() == 16 {
        return "i".repeat(16);
    }
    if hexadecimal && word.len() == 64 {
        return "sha256".to_string();
    }
    match word.split_once('.') {
        Some((_, decimals)) if word.parse::<f64>().is_ok() && decimals.len() == 4 => {
            "0.NNNN".to_string()
        }
        Some((_, decimals)) if word.parse::<f64>().is_ok() && decimals.len() > 4 => "N".to_string(),
        _ => word.to_string(),
    }
}

#[test]
fn what_studies_print_is_as_it_was_written_down() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/study_transcript.txt");
    let transcript = std::fs::read_to_string(&path).expect("the transcript");
    let study = terminal();
    let mut now = String::new();
    let mut first_difference = None;
    for part in format!("\n{transcript}").split("\n$ ").skip(1) {
        let (command, expected) = part.split_once('\n').unwrap_or((part, ""));
        let said = typed(&study, command);
        if said.trim_end() != expected.trim_end() {
            let what = format!("$ {command}\n--- now\n{said}--- was\n{expected}");
            first_difference.get_or_insert(what);
        }
        now += &format!("$ {command}\n{said}\n");
    }
    if std::env::var("DUBIO_SNAPSHOTS").is_ok_and(|v| v == "write") {
        std::fs::write(&path, now.trim_end().to_string() + "\n").expect("written");
    } else if let Some(difference) = first_difference {
        panic!("{difference}");
    }
}
