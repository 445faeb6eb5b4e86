//! Large files are scored in little memory, and say so when there is no room to set them aside.
#![cfg(target_os = "linux")]

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::{Command, Output};

const SHAPE: [usize; 3] = [8, 10_000, 1000];

/// The head of an `.npy` file.
fn head(descr: &str, shape: &str) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (text.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes()].concat()
}

/// Equal logits, 320 MB of which none is on the disk: predictions that take 160 MB.
fn predictions(folder: &Path) {
    let [members, examples, classes] = SHAPE;
    let head = head("<f4", &format!("({members}, {examples}, {classes})"));
    fs::write(folder.join("logits.npy"), &head).expect("room");
    let file = OpenOptions::new().append(true).open(folder.join("logits.npy")).expect("a file");
    let bytes = 4 * members * examples * classes;
    file.set_len((head.len() + bytes) as u64).expect("a sparse file");
    let labels = (0..examples).flat_map(|i| ((i % classes) as u16).to_le_bytes()).collect();
    let labels = [self::head("<u2", &format!("({examples},)")), labels].concat();
    fs::write(folder.join("labels.npy"), labels).expect("room");
}

/// `dubio evaluate` after some shell commands.
fn evaluate(folder: &Path, before: &str) -> Output {
    let script = format!("{before} exec \"$0\" evaluate . --json --resamples 32");
    Command::new("bash")
        .args(["-c", &script, env!("CARGO_BIN_EXE_dubio")])
        .env("RAYON_NUM_THREADS", "2")
        .current_dir(folder)
        .output()
        .expect("it starts")
}

#[test]
fn large_predictions_are_scored_in_little_memory_or_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    predictions(folder.path());

    let output = evaluate(folder.path(), "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let scores: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let nll = scores["nll"]["value"].as_f64().expect("a number");
    assert!((nll - (SHAPE[2] as f64).ln()).abs() < 1e-9, "{nll}"); // a guess among as many classes
    // Probabilities and logarithms alone would be 160 MB, and twice that with what is made of them.
    let peak = peak_of_children();
    assert!(peak < 120_000_000, "{peak} bytes");

    // A file that may not grow beyond 100 MB stands for a full disk.
    for before in ["TMPDIR=/nowhere", "trap '' XFSZ; ulimit -f 100000;"] {
        let output = evaluate(folder.path(), before);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(output.stdout.is_empty());
        for part in
            ["could not be written to a spill file", "set TMPDIR to a folder with room for 160 MB"]
        {
            assert!(message.contains(part), "{message}");
        }
    }
}

/// A group for every example: each listed with its resamples would be gigabytes, and 400 MB of JSON.
#[test]
fn as_many_groups_as_examples_take_no_memory_of_their_own() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let examples = 8000_u16;
    let floats =
        (0..2 * examples).flat_map(|i| f32::from(i % 97 * 31 % 97).to_le_bytes()).collect();
    let whole = |width: u16| (0..examples).flat_map(|i| (i % width).to_le_bytes()).collect();
    let write = |name: &str, descr: &str, shape: &str, bytes: Vec<u8>| {
        fs::write(folder.path().join(name), [head(descr, shape), bytes].concat()).expect("room");
    };
    write("logits.npy", "<f4", &format!("({examples}, 2)"), floats);
    write("labels.npy", "<u2", &format!("({examples},)"), whole(2));
    write("groups.npy", "<u2", &format!("({examples},)"), whole(examples));
    let output = Command::new(env!("CARGO_BIN_EXE_dubio"))
        .args(["evaluate", ".", "--json", "--groups", "--resamples", "1000"])
        .env("RAYON_NUM_THREADS", "2")
        .current_dir(folder.path())
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.len() < 50_000, "{} bytes", output.stdout.len());
    let scores: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(scores["median_group.nll"]["why"], "over 8000 groups");
    assert_eq!(scores["worst_group.error"]["value"], 1.0);
    let peak = peak_of_children();
    assert!(peak < 120_000_000, "{peak} bytes");
}

/// Many examples of two classes, and more classes than anybody has examples for: memory goes with what is
/// there, and not with bins, classes or copies for every score. These took 150 MB and 1.4 GB once.
#[test]
fn many_examples_and_many_classes_take_little_memory() {
    for (examples, classes) in [(350_000_usize, 2_usize), (5, 100_000)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let logit = |i: usize, class: usize| ((i * 31 + class * 57) % 101) as f32 / 25.0;
        let rows = (0..examples).flat_map(|i| (0..classes).map(move |class| logit(i, class)));
        let floats = rows.flat_map(f32::to_le_bytes).collect();
        let labels = (0..examples).flat_map(|i| ((i % 2) as u32).to_le_bytes()).collect();
        let write = |name: &str, descr: &str, shape: String, bytes: Vec<u8>| {
            let bytes = [head(descr, &shape), bytes].concat();
            fs::write(folder.path().join(name), bytes).expect("room");
        };
        write("logits.npy", "<f4", format!("({examples}, {classes})"), floats);
        write("labels.npy", "<u4", format!("({examples},)"), labels);
        let output = evaluate(folder.path(), "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let scores: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let right = |i: &usize| {
            let own = logit(*i, i % 2);
            (0..classes).all(|c| logit(*i, c) < own || (logit(*i, c) == own && c >= i % 2))
        };
        let accuracy = (0..examples).filter(right).count() as f64 / examples as f64;
        assert_eq!(scores["accuracy"]["value"], accuracy);
        let peak = peak_of_children();
        assert!(peak < 120_000_000, "{peak} bytes for {examples} examples of {classes} classes");
    }
}

/// The largest resident memory of any process that was started here and has ended.
#[allow(unsafe_code)]
fn peak_of_children() -> usize {
    // SAFETY: all zeros is a value of this plain struct, which the call fills in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    usage.ru_maxrss as usize * 1024
}
