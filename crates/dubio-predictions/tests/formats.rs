//! Files that numpy and safetensors wrote (`fixtures/make.py`), and files that are not what they should be.

use std::path::{Path, PathBuf};

use dubio_metrics::members::{Form, Members};
use dubio_predictions::{Classification, Error, Predictions, Regression, RegressionKind, Source};
use dubio_predictions::{Note, guarded, open};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn classification(path: &Path) -> Classification {
    match open(path) {
        Ok(Predictions::Classification(file)) => file,
        Ok(Predictions::Regression(_)) => panic!("{} holds classes", path.display()),
        Err(error) => panic!("{error}"),
    }
}

fn regression(path: &Path) -> Regression {
    match open(path) {
        Ok(Predictions::Regression(file)) => file,
        Ok(Predictions::Classification(_)) => panic!("{} holds numbers", path.display()),
        Err(error) => panic!("{error}"),
    }
}

fn refused(path: &Path) -> Error {
    match open(path) {
        Err(error) => error,
        Ok(_) => panic!("{} was read", path.display()),
    }
}

/// All numbers, read from the last member to the first, some rows at a time.
fn numbers(source: &Source) -> Vec<f64> {
    let (rows, width) = (source.examples(), source.width());
    let mut all = vec![f64::NAN; source.members() * rows * width];
    for (member, out) in all.chunks_mut(rows * width).enumerate().rev() {
        let (first, rest) = out.split_at_mut(width);
        source.read(member, 1..rows, rest);
        source.read(member, 0..1, first);
    }
    all
}

/// `make.py`'s `eighths`.
fn eighths(count: usize) -> Vec<f64> {
    (0..count).map(|i| i as f64 / 8.0).collect()
}

#[test]
fn numpys_archives_are_read_whether_stored_or_packed_in_either_order() {
    let stored = classification(&fixture("stored.npz"));
    assert_eq!(stored.form, Form::Logits);
    assert_eq!((stored.source.members(), stored.source.examples()), (2, 4));
    assert_eq!(numbers(&stored.source), eighths(24));
    assert_eq!(stored.labels, Some(vec![2, 0, 1, 1]));
    assert_eq!(stored.notes, [Note::Remark("not used: epoch".to_string())]);
    assert!(stored.source.read_rest().is_ok());

    let packed = classification(&fixture("packed.npz"));
    assert_eq!(packed.form, Form::LogProbs);
    assert_eq!(numbers(&packed.source), eighths(24));
    assert_eq!(packed.labels, Some(vec![2, 0, 1, 1]));
    assert_eq!(packed.groups.get("site"), Some(&[5, -5, 5, 9][..]));
}

#[test]
fn half_precision_of_one_member_is_read_from_safetensors() {
    let file = classification(&fixture("half.safetensors"));
    assert_eq!((file.form, file.source.members(), file.source.width()), (Form::Probs, 1, 3));
    assert_eq!(numbers(&file.source), eighths(12));
    assert_eq!(file.labels, Some(vec![2, 0, 1, 1]));
}

#[test]
fn folders_of_arrays_with_the_most_significant_byte_first_are_read() {
    let file = regression(&fixture("big_endian"));
    let RegressionKind::Gaussians(mean, std) = &file.kind else { panic!("mean and std") };
    assert_eq!(numbers(mean), eighths(12));
    assert_eq!(numbers(std), eighths(12).iter().map(|x| 1.0 + x).collect::<Vec<_>>());
    assert_eq!(file.targets, eighths(4));
}

#[test]
fn a_byte_that_changed_is_found_when_the_last_of_its_array_was_read() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["stored.npz", "packed.npz"] {
        let bytes = std::fs::read(fixture(name)).expect("a fixture");
        let whole = |bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("room");
            let predictions = open(&path)?;
            let Predictions::Classification(file) = predictions else { panic!("classes") };
            guarded(|| numbers(&file.source))
        };
        assert_eq!(whole(&bytes), Ok(eighths(24)));
        // Any byte of the first array, from behind the name of its entry to the next entry.
        let length = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        let first = 30 + length(26) + length(28);
        let second = bytes.windows(4).skip(4).position(|four| four == b"PK\x03\x04").expect("two");
        assert!(first + 50 < second);
        for at in first..second + 4 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            let error = whole(&damaged).expect_err("damaged");
            assert!(error.array.is_some(), "byte {at} of {name}: {error}");
        }
    }
}

/// An array's name, dtype, shape and bytes.
type Npy<'a> = (&'a str, &'a str, &'a str, &'a [u8]);

fn folder(arrays: &[Npy<'_>]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, dtype, shape, data) in arrays {
        let header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}}}\n");
        let length = (header.len() as u16).to_le_bytes();
        let bytes = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat();
        std::fs::write(folder.path().join(format!("{name}.npy")), bytes).expect("room");
    }
    folder
}

#[test]
fn arrays_of_a_wrong_shape_or_kind_are_refused_by_name() {
    let logits = ("logits", "<f4", "(2, 2)", &[0; 16][..]);
    let mean = ("mean", "<f4", "(2, 2)", &[0; 16][..]);
    let cases: [(&[Npy<'_>], Option<&str>, &str); 8] = [
        (&[("logits", "<f4", "()", &[0; 4])], Some("logits"), "shape []"),
        (&[("logits", "<f4", "(0, 2)", &[])], Some("logits"), "shape [0, 2] is empty"),
        (&[("logits", "<i4", "(2, 2)", &[0; 16])], Some("logits"), "where floats are needed"),
        (&[logits, ("labels", "<i4", "(1,)", &[0; 4])], Some("labels"), "1 entry for 2 examples"),
        (&[logits, ("labels", "<f4", "(2,)", &[0; 8])], Some("labels"), "integers are needed"),
        (&[logits, ("labels", "|u1", "(2,)", &[1, 2])], Some("labels"), "label 2 at example 1"),
        (
            &[mean, ("std", "<f4", "(4,)", &[0; 16])],
            Some("std"),
            "shape [1, 4], but mean has [2, 2]",
        ),
        (&[logits, mean], None, "in more than one form: logits, mean"),
    ];
    for (arrays, array, what) in cases {
        let folder = folder(arrays);
        let error = refused(folder.path());
        assert_eq!((error.array.as_deref(), error.what.contains(what)), (array, true), "{error}");
        assert!(!error.advice.is_empty(), "{error}");
    }
}

#[test]
fn a_header_that_claims_other_than_the_bytes_that_are_there_is_refused() {
    for (shape, data) in [("(2, 2)", 15), ("(2, 2)", 17), ("(1099511627776, 1099511627776)", 16)] {
        let folder = folder(&[("logits", "<f4", shape, &vec![0; data])]);
        let error = refused(folder.path());
        assert!(error.path.ends_with("logits.npy"), "{error}");
    }
}
