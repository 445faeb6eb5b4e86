//! What a user may name by mistake: pipes as inputs, inputs as outputs, more threads than there are.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs a line of shell in a folder, with `dubio` in it, for at most half a minute: what waits for a
/// pipe would wait for ever.
fn shell(folder: &Path, line: &str) -> Output {
    let dubio = env!("CARGO_BIN_EXE_dubio");
    let script = format!("dubio() {{ timeout 30 {dubio} \"$@\"; }}; {line}");
    Command::new("bash").args(["-c", &script]).current_dir(folder).output().expect("it starts")
}

#[track_caller]
fn refused(folder: &Path, line: &str, says: &str) {
    let output = shell(folder, line);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{line}: {message}");
    assert!(message.contains(says), "{line}: {message}");
}

/// A folder with predictions, and a pipe that nobody writes to under every name that inputs have.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ensemble.npz");
    for name in ["a.npz", "b.npz"] {
        fs::copy(&fixture, folder.path().join(name)).expect("room");
    }
    let pipes = "mkfifo p.npz p.safetensors p.toml p.csv && mkdir q && mkfifo q/logits.npy";
    assert!(shell(folder.path(), pipes).status.success());
    folder
}

#[test]
fn a_pipe_is_refused_wherever_a_file_is_read() {
    let folder = folder();
    let lines = [
        "dubio evaluate p.npz",
        "dubio evaluate p.safetensors",
        "dubio evaluate q",
        "dubio evaluate a.npz --ood far=p.npz",
        "dubio evaluate a.npz --reference p.npz",
        "dubio evaluate a.npz --costs p.csv",
        "dubio check p.npz",
        "dubio compare a.npz p.npz",
        "dubio dee --baseline a.npz p.npz",
        "dubio dee --baseline sgd --table p.csv",
        "dubio calibrate p.npz",
        "dubio report p.npz",
        "dubio plan p.toml",
        "dubio run p.toml",
        "dubio predict --network mlp --weights p.safetensors --data digits:test -o c.npz",
        "dubio train sgd --data digits -o c.npz --set start='[\"p.safetensors\"]' --set epochs=1",
    ];
    for line in lines {
        refused(folder.path(), line, "it is a pipe or a device, not a file");
    }
    refused(folder.path(), "ln -s /dev/zero zero.npz && dubio evaluate zero.npz", "a device");
    let mnist = "mkdir mnist && mkfifo mnist/t10k-images-idx3-ubyte.gz && DUBIO_DATA=. dubio predict \
                 --network mlp --weights x.safetensors --data mnist:test -o c.npz";
    refused(folder.path(), mnist, "it is a pipe or a device, not a file");
}

#[test]
fn nothing_is_written_over_what_is_read() {
    let folder = folder();
    let [a, suite, weights] = ["a.npz", "s.toml", "w.safetensors"].map(|n| folder.path().join(n));
    let text =
        "name = \"s\"\ndata = \"digits\"\nnetworks = \"mlp\"\n[[methods]]\nmethod = \"sgd\"\n";
    fs::write(&suite, text).expect("room");
    fs::write(&weights, "weights").expect("room");
    assert!(
        shell(folder.path(), "ln -s a.npz link.npz && mkdir d && cp a.npz d/test.npz")
            .status
            .success()
    );
    let bytes = |path: &PathBuf| fs::read(path).expect("a file");
    let before = [&a, &suite, &weights].map(bytes);
    let lines = [
        "dubio report a.npz -o a.npz",
        "dubio report a.npz -o ./link.npz",
        "dubio report link.npz -o a.npz",
        "dubio report d -o d/test.npz",
        "dubio calibrate a.npz --apply b.npz -o a.npz",
        "dubio calibrate b.npz --apply a.npz -o ./a.npz",
        "dubio evaluate a.npz --curves a.npz",
        "dubio run s.toml --report s.toml",
        "dubio predict --network mlp --weights w.safetensors --data digits:test -o w.safetensors",
        "dubio train sgd --data digits --set start='[\"w.safetensors\"]' -o w.safetensors",
        "dubio train sgd --data digits --set start='[\"w.safetensors\"]' -o c.npz --weights .",
    ];
    for line in lines {
        refused(folder.path(), line, "is an input and would be overwritten; choose another output");
    }
    assert_eq!([&a, &suite, &weights].map(bytes), before);
    let twice = "dubio train sgd --data digits -o c.npz --also fashion8:test=./c.npz";
    refused(folder.path(), twice, "c.npz would be written twice; choose another output");
}

#[test]
fn threads_that_cannot_be_had_are_an_error_and_no_panic() {
    let folder = folder();
    let evaluate = "dubio evaluate a.npz --scores nll --no-intervals";
    refused(
        folder.path(),
        &format!("RAYON_NUM_THREADS=100000 {evaluate}"),
        "RAYON_NUM_THREADS is 100000; at most 1024 threads can work",
    );
    refused(folder.path(), &format!("{evaluate} --threads 60000"), "--threads is 60000; at most");
    // Their stacks alone are two gigabytes.
    let starved = format!("ulimit -v 1000000; RAYON_NUM_THREADS=1000 {evaluate}");
    refused(folder.path(), &starved, "cannot start 1000 threads: ");
}
