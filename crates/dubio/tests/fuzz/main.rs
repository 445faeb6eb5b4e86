//! The program on files that were changed by chance, from a fixed seed: it ends with code 0, 1 or 2, in
//! little time and memory, and where it gives scores they are those of a plain oracle.
//!
//! `DUBIO_FUZZ_SECONDS=3600 cargo test --release --test fuzz` goes on for an hour; a case that fails is
//! told by its number, and `DUBIO_FUZZ_CASE=123` does that one alone.
#![cfg(target_os = "linux")]

mod inputs;
mod mutate;
#[allow(dead_code, unused_imports)] // the other tests use the rest of it
#[path = "../npy/mod.rs"]
mod npy;
mod oracle;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use inputs::Change;
use mutate::{Random, mutated};
use serde_json::Value;

/// Four gigabytes of addresses and twenty seconds of a processor.
const LIMITED: &str = "ulimit -v 4000000; ulimit -t 20; exec \"$0\" \"$@\"";

const TABLE: &str = "dataset,model,method,n_samples,metric,value,std\nX,n,deep,1,cll,-1.0,0.1\n\
                     X,n,deep,2,cll,-0.8,0.1\nX,n,deep,4,cll,-0.6,\nX,n,swag,5,cll,-0.7,0.2\n";

const SUITE: &str = "title = \"Small\"\ndata = [\"digits\"]\nnetworks = [\"mlp-20\"]\nseeds = 2\n\n[evaluate]\n\
                     ood = [\"fashion8:test\"]\nshifts = [\"gaussian_noise\"]\nseverities = [3]\n\n[[methods]]\n\
                     method = \"sgd\"\nepochs = 1\nlr = 0.1\n\n[[methods]]\nmethod = \"swag\"\nepochs = 2\n\
                     collect_epochs = 3\ncollect = 3\nsamples = 5\nmembers = 2\n";

fn dubio(folder: &Path, arguments: &[&str], input: Stdio) -> Output {
    Command::new("bash")
        .stdin(input)
        .args(["-c", LIMITED, env!("CARGO_BIN_EXE_dubio")])
        .args(arguments)
        .env("RAYON_NUM_THREADS", "2")
        .env("RUST_BACKTRACE", "0")
        .current_dir(folder)
        .output()
        .expect("it starts")
}

/// What it printed, where it is done.
fn ended(folder: &Path, arguments: &[&str]) -> Option<String> {
    ended_with(folder, arguments, Stdio::null())
}

/// The same, reading `input`.
fn ended_with(folder: &Path, arguments: &[&str], input: Stdio) -> Option<String> {
    let output = dubio(folder, arguments, input);
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(matches!(code, Some(0..=2)), "{arguments:?}: {}: {said}", output.status);
    assert!(code != Some(2) || said.starts_with("error: ") || said.contains("\nerror: "), "{said}");
    (code != Some(2)).then(|| String::from_utf8(output.stdout).expect("text"))
}

/// What has been made once, for cases to change.
struct Made {
    folder: tempfile::TempDir,
    weights: Vec<u8>,
    record: Vec<u8>,
    id: String,
}

fn made() -> Made {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    fs::write(here.join("s.toml"), SUITE).expect("written");
    let output = dubio(
        here,
        &["run", "s.toml", "--only", "method=sgd", "--only", "seed=0", "--jobs", "1"],
        Stdio::null(),
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let train = ["train", "sgd", "--data", "digits", "--network", "mlp-3", "--set", "epochs=1"];
    let output = dubio(
        here,
        &[&train[..], &["-o", "t.npz", "--weights", "weights"]].concat(),
        Stdio::null(),
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let first = |path: &Path, is: fn(&str) -> bool| {
        let entries = fs::read_dir(path).expect("a folder").map(|e| e.expect("an entry").path());
        let name =
            |path: &std::path::PathBuf| path.file_name().is_some_and(|n| is(&n.to_string_lossy()));
        entries.into_iter().find(name).expect("made")
    };
    let run = first(&here.join("runs"), |name| name.len() == 16);
    Made {
        weights: fs::read(first(&here.join("weights"), |n| n.ends_with("s"))).expect("weights"),
        record: fs::read(run.join("record.json")).expect("a record"),
        id: run.file_name().expect("a name").to_string_lossy().into_owned(),
        folder,
    }
}

/// Whether scores of something that was changed were compared.
fn case(number: u64, made: &Made) -> bool {
    let mut random = Random(number.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    match random.below(16) {
        0 => {
            inputs::text(here, "t.csv", TABLE, &mut random);
            ended(here, &["dee", "--table", "t.csv", "--baseline", "deep"]);
        }
        1 => {
            inputs::text(here, "s.toml", SUITE, &mut random);
            ended(here, &["plan", "s.toml", "--json"]);
        }
        2 => {
            let bytes = mutated(made.weights.clone(), &mut random);
            fs::write(here.join("w.safetensors"), bytes).expect("written");
            let network = ["predict", "--network", "mlp-3", "--data", "digits:test"];
            ended(here, &[&network[..], &["--weights", "w.safetensors", "-o", "p.npz"]].concat());
        }
        3 => {
            let record = made.folder.path().join("runs").join(&made.id).join("record.json");
            fs::write(&record, mutated(made.record.clone(), &mut random)).expect("written");
            for command in [&["runs", "list"][..], &["score", "--scores", "accuracy"]] {
                ended(made.folder.path(), command);
            }
        }
        4 => return costs(here, &mut random),
        kind => {
            let whole = kind >= 12;
            let change: Change = if whole { |bytes, _| bytes } else { mutated };
            let path = inputs::predictions(here, &mut random, change);
            return scored(here, &path, whole) && !whole;
        }
    }
    false
}

/// The scores of a file, if it has any, beside the oracle's.
fn scored(folder: &Path, path: &Path, whole: bool) -> bool {
    let name = path.file_name().expect("a name").to_str().expect("text");
    let asked = |name| ["evaluate", name, "--json", "--no-intervals"];
    let printed = ended(folder, &asked(name));
    if path.is_file() {
        let file = fs::File::open(path).expect("a file");
        let piped = ended_with(folder, &asked("-"), file.into());
        assert!(piped.is_some() || !whole, "refused on standard input: {name}");
        // Without a name, what is damaged may be taken for another format, and refused.
        if piped.is_some() && printed.is_some() {
            assert!(printed == piped, "{name} has other scores on standard input");
        }
    }
    let Some(printed) = printed else {
        assert!(!whole, "refused, though nothing was changed");
        return false;
    };
    let found: Value = serde_json::from_str(&printed).expect("JSON");
    let arrays = match oracle::read(path) {
        Some(arrays) => arrays,
        // Tables are read in more dialects than the oracle knows.
        None if name.ends_with("sv") && !whole => return false,
        None => panic!("scored, and cannot be read: {found}"),
    };
    let scores = oracle::scores(&arrays).expect("scored, and holds no predictions");
    for (score, expected) in scores {
        same(&found[score]["value"], expected, score);
    }
    true
}

fn same(found: &Value, expected: f64, score: &str) {
    let found = match found.as_str() {
        Some("inf") => f64::INFINITY,
        _ => found.as_f64().unwrap_or_else(|| panic!("{score}: {found}, not {expected}")),
    };
    let near = (found - expected).abs() <= 1e-6 * expected.abs().max(1.0);
    assert!(found == expected || near, "{score}: {found}, not {expected}");
}

/// A matrix of costs: what is taken for one is one.
fn costs(folder: &Path, random: &mut Random) -> bool {
    let path = inputs::predictions(folder, random, |bytes, _| bytes);
    inputs::text(folder, "c.csv", "0,1,2\n1,0,5\n0.5,1e3,0\n", random);
    let name = path.file_name().expect("a name").to_str().expect("text");
    let asked = ["--costs", "c.csv", "--scores", "decision_cost_mean", "--json", "--no-intervals"];
    let printed = ended(folder, &[&["evaluate", name][..], &asked].concat());
    let Some(printed) = printed else { return false };
    let text = fs::read_to_string(folder.join("c.csv")).expect("taken for text");
    let rows = text.lines().filter(|line| !line.trim().is_empty());
    let number = |cell: &str| cell.trim().trim_matches('"').parse::<f64>().ok();
    let cells: Option<Vec<f64>> = rows.flat_map(|line| line.split(',').map(number)).collect();
    let cells = cells.unwrap_or_else(|| panic!("taken for costs: {text}"));
    let found: Value = serde_json::from_str(&printed).expect("JSON");
    let paid = found["decision_cost_mean"]["value"].as_f64().expect("a number");
    let (least, most) = (f64::INFINITY, f64::NEG_INFINITY);
    let (least, most) = cells.iter().fold((least, most), |(l, m), c| (l.min(*c), m.max(*c)));
    assert!(least - 1e-9 <= paid && paid <= most + 1e-9, "{paid} is paid of {text}");
    true
}

#[test]
fn files_that_were_changed_by_chance_are_scored_right_or_refused() {
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let made = made();
    if let Some(number) = variable("DUBIO_FUZZ_CASE") {
        case(number, &made);
        return;
    }
    let seconds = variable("DUBIO_FUZZ_SECONDS").unwrap_or(5);
    let (began, mut compared, mut failed) = (Instant::now(), 0, Vec::new());
    let mut number = 0;
    while number < 100 || began.elapsed() < Duration::from_secs(seconds) {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(number, &made)));
        match done {
            Ok(true) => compared += 1,
            Ok(false) => {}
            Err(_) => failed.push(number),
        }
        number += 1;
    }
    assert!(failed.is_empty(), "cases {failed:?} failed; DUBIO_FUZZ_CASE=N does one alone");
    eprintln!("{number} cases; {compared} files that were changed gave scores, all of them right");
    assert!(compared > 5, "{compared}");
}
