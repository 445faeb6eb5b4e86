//! A run that is stopped while it predicts, and goes on.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use dubio_bench::plan::{PlannedRun, plan};
use dubio_bench::store::Store;
use dubio_bench::suite::Suite;
use dubio_bench::work::{Error, work};
use dubio_progress::{Progress, Silent};

const SUITE: &str = r#"
data = ["digits"]
networks = ["mlp-5"]
[evaluate]
ood = ["fashion8:test"]
shifts = ["gaussian_noise"]
severities = [1, 3]
attacks = ["fgsm"]
epsilons = [0.1]
attack_examples = 20
[[methods]]
method = "mc-dropout"
epochs = 1
samples = 3
"#;

fn planned() -> PlannedRun {
    let suite = Suite::parse("s.toml", SUITE).unwrap_or_else(|e| panic!("{e}"));
    let mut runs = plan(&suite, Path::new(""), &|_, _| None).unwrap_or_else(|e| panic!("{e}")).runs;
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// Asks for a stop once a file is there.
struct Until(PathBuf);

impl Progress for Until {
    fn should_stop(&self) -> bool {
        self.0.exists()
    }
}

/// Predictions of a folder: names and bytes.
fn predictions(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let mut files: Vec<PathBuf> =
        entries.filter(|p| p.extension().is_some_and(|e| e == "npz")).collect();
    files.sort();
    files
        .into_iter()
        .map(|p| (p.file_name().expect("a name").into(), fs::read(&p).expect("read")))
        .collect()
}

#[test]
fn predictions_that_were_finished_are_kept_and_the_rest_is_the_same() {
    let (run, scratch) = (planned(), tempfile::tempdir().expect("a folder"));
    let [whole, resumed] = ["whole", "resumed"].map(|name| Store::new(&scratch.path().join(name)));
    work(&run, &whole, Path::new(""), &Silent).expect("finished");
    let expected = predictions(&whole.run(&run.id));
    assert_eq!(expected.len(), 5, "test, OOD, two severities, attack");

    let begun = scratch.path().join("resumed/.work").join(&*run.id);
    let kept = begun.join("shift.gaussian_noise.1.npz");
    let stopped = work(&run, &resumed, Path::new(""), &Until(kept.clone()));
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    assert!(predictions(&begun).len() < expected.len(), "something is left to do");
    // What a kill in the middle of a write leaves behind.
    fs::write(begun.join(".tmp123"), "half a file").expect("written");
    let written = |path: &Path| -> SystemTime {
        path.metadata().and_then(|of| of.modified()).expect("a time")
    };
    let before = written(&kept);
    work(&run, &resumed, Path::new(""), &Silent).expect("finished");
    let folder = resumed.run(&run.id);
    assert_eq!(written(&folder.join("shift.gaussian_noise.1.npz")), before, "predicted again");
    assert!(predictions(&folder) == expected, "not the bytes of a run that was never stopped");
    assert!(!folder.join(".tmp123").exists());
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_predictions_is_not_followed() {
    let (run, scratch) = (planned(), tempfile::tempdir().expect("a folder"));
    let victim = scratch.path().join("victim.npz");
    fs::write(&victim, "not ours").expect("written");
    let begun = scratch.path().join("runs/.work").join(&*run.id);
    fs::create_dir_all(&begun).expect("a folder");
    for name in ["test.npz", "shift.gaussian_noise.1.npz"] {
        std::os::unix::fs::symlink(&victim, begun.join(name)).expect("a link");
    }
    let store = Store::new(&scratch.path().join("runs"));
    work(&run, &store, Path::new(""), &Silent).expect("finished");
    assert_eq!(fs::read(&victim).expect("read"), b"not ours");
    let files = fs::read_dir(store.run(&run.id)).expect("a folder");
    assert!(files.flatten().all(|file| file.file_type().is_ok_and(|kind| kind.is_file())));
}
