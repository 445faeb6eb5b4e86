//! Scores of real networks' predictions against values from an independent implementation.
//!
//! The predictions and their golden scores lie beside the repository, in `../shared/data`, and are
//! too large to be part of it. Where they are missing the tests are reported as ignored.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

fn main() -> ExitCode {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let there = data.join("golden").is_dir();
    if !there {
        eprintln!("note: {} is not there: the golden tests are ignored", data.display());
    }
    let predictions = |name: &str| data.join("predictions").join(format!("{name}.npz"));
    let hmc = predictions("hmc-cifar10");
    let trial = |name: &'static str, extra: Vec<String>| {
        let (file, golden) = (predictions(name), data.join(format!("golden/{name}.json")));
        Trial::test(format!("golden_values_of_{name}"), move || compare(&file, &golden, &extra))
            .with_ignored_flag(!there)
    };
    let trials = vec![
        trial("densenet-cifar100", vec![]),
        trial(
            "resnets-cifar10",
            vec![
                "--reference".into(),
                hmc.display().to_string(),
                "--ood".into(),
                format!("hmc={}", hmc.display()),
            ],
        ),
        trial("features-concrete", vec![]),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn compare(file: &PathBuf, golden: &Path, extra: &[String]) -> Result<(), Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_dubio"))
        .arg("evaluate")
        .arg(file)
        .args(extra)
        .args(["--json", "--no-intervals"])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let scores: Value = serde_json::from_slice(&output.stdout)?;
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(golden)?)?;
    let golden = golden.as_object().ok_or("the golden file is no object")?;
    let mut wrong = Vec::new();
    for (name, expected) in golden {
        let expected = expected.as_f64().ok_or_else(|| format!("golden {name} is no number"))?;
        let found = scores[name]["value"].as_f64();
        // Absolute below 1, relative above; the splits of cross-validation are random.
        let tolerance = expected.abs().max(1.0)
            * match name.as_str() {
                "temperature" => 1e-3,
                _ if name.starts_with("calibrated.") => 2e-4,
                _ => 1e-6,
            };
        if found.is_none_or(|found| (found - expected).abs() > tolerance) {
            wrong.push(format!("{name}: {found:?}, not {expected}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}
