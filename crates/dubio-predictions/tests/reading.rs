//! Files that change or turn out to be damaged while they are read.
#![cfg(unix)]

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use dubio_metrics::members::{Form, Members};
use dubio_metrics::pool::pool;
use dubio_predictions::{Classification, Error, Floats, Output, Predictions, guarded, open, write};

const EXAMPLES: usize = 900;
const CLASSES: usize = 100;

/// Logits of some members in a file of this name.
fn predictions(folder: &Path, name: &str, members: usize) -> PathBuf {
    let path = folder.join(name);
    let values: Vec<f32> =
        (0..members * EXAMPLES * CLASSES).map(|i| (i % 97) as f32 / 16.0).collect();
    let shape = vec![members, EXAMPLES, CLASSES];
    let floats = vec![Floats { name: "logits", values: &values, shape }];
    let labels = (0..EXAMPLES).map(|i| (i % CLASSES) as i64).collect();
    write(&path, &Output { floats, integers: vec![("labels".into(), labels)] }).expect("room");
    path
}

fn opened(path: &Path) -> Classification {
    match open(path) {
        Ok(Predictions::Classification(file)) => file,
        Ok(Predictions::Regression(_)) => panic!("these are classes"),
        Err(error) => panic!("{error}"),
    }
}

/// The mean confidence, from a pass over all rows on several threads.
fn confidence(file: &Classification) -> Result<f64, Error> {
    guarded(|| {
        let pooled = pool(&file.source, Form::Logits, &|_| ()).expect("no number is at fault");
        pooled.confidence.iter().sum::<f64>() / EXAMPLES as f64
    })
}

/// Changes the lowest bit of a number: it stays one that predictions may hold.
fn damage(path: &Path, at: u64) {
    let file = OpenOptions::new().read(true).write(true).open(path).expect("a file");
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).expect("a byte");
    file.write_all_at(&[byte[0] ^ 1], at).expect("a byte");
}

#[test]
fn a_damaged_archive_is_given_up_whatever_its_size_and_wherever_the_damage_lies() {
    let folder = tempfile::tempdir().expect("a folder");
    for members in [2, 200] {
        let path = predictions(folder.path(), "p.npz", members); // 0.7 MB, 72 MB
        assert!(confidence(&opened(&path)).is_ok());
        let data = (4 * members * EXAMPLES * CLASSES) as u64;
        for at in [200, data / 2, data] {
            damage(&path, at);
            let error = confidence(&opened(&path)).expect_err("damaged").to_string();
            assert!(error.contains("p.npz, array `logits`: unreadable: its checksum is wrong"));
            damage(&path, at); // and back
        }
    }
}

#[test]
fn who_reads_some_members_sees_damage_to_the_others_by_reading_the_rest() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = predictions(folder.path(), "p.npz", 3);
    let last = (4 * 3 * EXAMPLES * CLASSES) as u64;
    for (damaged, right) in [(false, true), (true, false)] {
        if damaged {
            damage(&path, last);
        }
        let file = opened(&path);
        let mut row = vec![0.0; CLASSES];
        guarded(|| file.source.read(0, 5..6, &mut row)).expect("not all was seen");
        assert_eq!(file.source.read_rest().is_ok(), right);
    }
}

#[test]
fn a_file_that_is_cut_short_while_it_is_read_is_an_error_and_no_signal() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["p.npz", "p.safetensors", "p"] {
        let path = predictions(folder.path(), name, 2);
        let file = opened(&path);
        assert!(confidence(&file).is_ok());
        let array = if name == "p" { path.join("logits.npy") } else { path };
        let cut = OpenOptions::new().write(true).open(array).expect("a file");
        cut.set_len(100_000).expect("shorter");
        let error = confidence(&file).expect_err("cut short").to_string();
        assert!(error.contains("the file was cut short while it was read"), "{error}");
    }
}

#[test]
fn a_panic_is_not_taken_for_a_file_that_failed() {
    let panicked = std::panic::catch_unwind(|| guarded(|| std::panic::resume_unwind(Box::new(7))));
    assert_eq!(panicked.expect_err("goes on").downcast_ref(), Some(&7));
}
