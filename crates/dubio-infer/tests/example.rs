//! The example that the documentation shows does what it says.

use std::process::Command;

use dubio_metrics::members::Members;
use dubio_predictions::{Predictions, open};

#[test]
fn the_example_writes_twenty_samples_that_are_right_nine_times_in_ten() {
    let folder = tempfile::tempdir().expect("a folder");
    // `cargo test` builds examples beside the folder of its tests; with --test, --examples does.
    let tests = std::env::current_exe().expect("this test");
    let built = tests.parent().and_then(|deps| deps.parent()).expect("a folder");
    let output = Command::new(built.join("examples/posterior"))
        .env("TMPDIR", folder.path())
        .output()
        .expect("the example is built; if not, add --examples");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = folder.path().join("posterior.npz");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.trim(), format!("dubio evaluate {}", file.display()));
    let Ok(Predictions::Classification(predictions)) = open(&file) else { panic!("classes") };
    let source = &predictions.source;
    assert_eq!([source.members(), source.examples(), source.width()], [20, 896, 10]);
    let labels = predictions.labels.expect("labels");
    for member in 0..20 {
        let mut logits = vec![0.0; 8960];
        source.read(member, 0..896, &mut logits);
        let right = logits
            .chunks(10)
            .zip(&labels)
            .filter(|(row, label)| row.iter().all(|logit| *logit <= row[**label as usize]));
        let right = right.count();
        assert!(right > 800, "member {member}: {right} of 896");
    }
}
