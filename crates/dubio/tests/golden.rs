//! Scores of real networks' predictions against values from an independent implementation.
//!
//! The predictions and their golden scores lie beside the repository, in `../shared/data`, and are
//! too large to be part of it. Where they are missing the tests are reported as ignored.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use dubio_metrics::members::Members;
use dubio_predictions::{Predictions, open};
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
    // A network that somebody else trained, on images that only a data folder holds.
    let weights = data.join("weights/resnet20-cifar10.safetensors");
    let (folder, ready) = match std::env::var_os("DUBIO_DATA").map(PathBuf::from) {
        Some(folder) if weights.is_file() => {
            let ready = folder.join("cifar-10/test_batch.bin").is_file();
            (folder, ready)
        }
        _ => (PathBuf::new(), false),
    };
    if !ready {
        eprintln!(
            "note: no cifar-10 below $DUBIO_DATA: a trained network's logits are not compared"
        );
    }
    let logits = {
        let published = predictions("resnets-cifar10");
        Trial::test("logits_of_a_pretrained_resnet20", move || {
            compare_logits(&folder, &weights, &published)
        })
        .with_ignored_flag(!ready)
    };
    let trials = vec![
        logits,
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

/// The largest difference between our logits and PyTorch's, which are member 0 of the file.
fn compare_logits(folder: &Path, weights: &Path, published: &Path) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let ours = scratch.path().join("preds.npz");
    let output = Command::new(env!("CARGO_BIN_EXE_dubio"))
        .args(["predict", "--network", "resnet20-cifar", "--data", "cifar-10:test"])
        .args(["--normalize", "0.485,0.456,0.406/0.229,0.224,0.225"])
        .arg("--weights")
        .arg(weights)
        .arg("--dir")
        .arg(folder)
        .arg("-o")
        .arg(&ours)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let read = |path: &Path| -> Result<Vec<f64>, Failed> {
        let Predictions::Classification(file) = open(path)? else {
            return Err("no classes".into());
        };
        let mut logits = vec![0.0; file.source.examples() * file.source.width()];
        file.source.read(0, 0..file.source.examples(), &mut logits);
        Ok(logits)
    };
    let (ours, theirs) = (read(&ours)?, read(published)?);
    let gap = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    if ours.len() == theirs.len() && gap < 1e-4 {
        Ok(())
    } else {
        Err(format!("off by {gap}").into())
    }
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
