//! Every command with names that were chosen to do harm: nothing of them acts on a terminal.

#[path = "../../dubio-report/tests/hostile/mod.rs"]
mod hostile;
#[allow(dead_code, unused_imports)] // the other tests use the rest of it
mod npy;

use std::path::Path;
use std::process::{Command, Output};

use dubio_report::text::{is_unseen, one_line};
use hostile::NAMES;

fn dubio(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dubio"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("dubio runs")
}

/// What it printed and said, of which nothing acts on a terminal.
fn harmless(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = dubio(folder, arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    let (printed, said) = (text(output.stdout), text(output.stderr));
    for text in [&printed, &said] {
        let acting = text.chars().find(|c| *c != '\n' && is_unseen(*c));
        assert_eq!(acting, None, "{arguments:?}: {text}");
    }
    (output.status.code(), printed, said)
}

/// A file's name, which may hold no slash.
fn file(name: &str) -> String {
    format!("{}.npz", name.replace('/', "_"))
}

/// Logits and labels of forty examples, with one more array and groups.
fn predictions(extra: &str) -> Vec<u8> {
    let logits: Vec<f64> = (0..120).map(|i| f64::from(i * 37 % 64) / 16.0).collect();
    let labels: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 3)).collect();
    let groups = format!("groups.{extra}");
    npy::stored(&[
        ("logits", npy::array("<f4", &[40, 3], &logits)),
        ("labels", npy::array("<i8", &[40], &labels)),
        (&groups, npy::array("<i8", &[40], &labels)),
        (extra, npy::array("<i8", &[40], &labels)),
    ])
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plain.npz"), predictions("extra")).expect("written");
    folder
}

#[test]
fn files_and_arrays() {
    let folder = folder();
    let lines = |text: &str| text.lines().count();
    let plain = ["evaluate", "plain.npz", "--no-intervals", "--ood", "far=plain.npz"];
    let (_, usual, _) = harmless(folder.path(), &plain);
    for name in NAMES {
        let path = file(name);
        let at = format!("./{path}");
        std::fs::write(folder.path().join(&path), predictions(name)).expect("written");
        let ood = format!("--ood={}=plain.npz", name.replace(['.', '='], " "));
        let scored = ["evaluate", &at, "--no-intervals", &ood];
        let (code, printed, said) = harmless(folder.path(), &scored);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(&*one_line(name)) || name.contains('\n'), "{said}");
        assert_eq!(lines(&printed), lines(&usual), "{name}");
        let (code, printed, _) = harmless(folder.path(), &[&scored[..], &["--json"]].concat());
        assert_eq!(code, Some(0));
        let scores: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
        let own = format!("ood.{}.auroc.total", name.replace(['.', '='], " "));
        assert!(scores[&own]["value"].is_f64(), "{own}: the name is the same in JSON");
        for arguments in [
            vec!["evaluate", &at, "--groups", "nowhere"],
            vec!["evaluate", &at, "--groups", name],
            vec!["evaluate", &at, "--costs", &at],
            vec!["evaluate", &at, "--scores", name],
            vec!["calibrate", &at],
            vec!["calibrate", &at, "--apply", &at, "-o", &format!("./out {path}")],
            vec!["check", &at, "--replicates", "20"],
            vec!["predict", "--network", name, "--weights", &at, "--data", name, "-o", "x.npz"],
            vec!["train", name, "--data", "digits", "-o", "x.npz"],
            vec!["explain", name],
            vec!["data", "check", name],
            vec!["plan", name],
            vec!["run", &at],
            vec!["runs", "show", name],
            vec!["runs", "list", "--runs", &at],
            vec!["score", "--runs", &at],
            vec![name],
            vec!["evaluate", "plain.npz", &at],
        ] {
            let (code, _, said) = harmless(folder.path(), &arguments);
            assert!(matches!(code, Some(0..=2)), "{arguments:?}: {said}");
        }
    }
}

#[test]
fn methods() {
    let folder = folder();
    let lines = |text: &str| text.lines().count();
    let compared = |name: &str| {
        std::fs::write(folder.path().join(file(name)), predictions("extra")).expect("written");
        let at = format!("./{}", file(name));
        let (code, printed, said) =
            harmless(folder.path(), &["compare", "plain.npz", &at, "--resamples", "20"]);
        assert_eq!(code, Some(0), "{said}");
        let table = format!(
            "dataset,model,method,n_samples,metric,value\n{0},n,deep,1,cll,-1\n{0},n,deep,2,cll,-0.5\n{0},n,{0},1,cll,-0.7\n",
            format_args!("\"{}\"", name.replace('"', "\"\""))
        );
        std::fs::write(folder.path().join("table.csv"), table).expect("written");
        let (code, worth, said) =
            harmless(folder.path(), &["dee", "--table", "table.csv", "--baseline", "deep"]);
        assert_eq!(code, Some(0), "{said}");
        (lines(&printed), lines(&worth))
    };
    let usual = compared("other");
    for name in NAMES {
        assert_eq!(compared(name), usual, "{name}");
    }
}

/// All of them as models of one report, in every format.
#[test]
fn reports() {
    let folder = folder();
    let mut arguments = vec!["report".to_string()];
    for name in NAMES {
        std::fs::write(folder.path().join(file(name)), predictions("extra")).expect("written");
        arguments.push(format!("./{}", file(name)));
    }
    for format in ["html", "markdown", "latex", "csv", "svg"] {
        let own = ["--format", format, "--resamples", "20", "-o", "out"].map(str::to_string);
        let all: Vec<&str> = arguments.iter().chain(&own).map(|a| &a[..]).collect();
        let (code, _, said) = harmless(folder.path(), &all);
        assert_eq!(code, Some(0), "{format}: {said}");
        let out = folder.path().join("out");
        if out.is_file() {
            std::fs::remove_file(out).expect("removed");
        }
    }
}
