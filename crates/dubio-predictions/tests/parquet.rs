//! Parquet files that pandas and polars wrote (`fixtures/make_parquet.py`).
#![cfg(feature = "parquet")]

use std::path::{Path, PathBuf};

use dubio_metrics::members::{Form, Members};
use dubio_predictions::{Error, Note, Predictions, open};

fn fixture() -> PathBuf {
    named("table.parquet")
}

fn named(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn refused(bytes: &[u8]) -> Error {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.parquet");
    std::fs::write(&path, bytes).expect("written");
    open(&path).err().expect("it was read")
}

#[test]
fn columns_of_any_numeric_type_are_read_however_pandas_and_polars_compress_them() {
    for name in ["table.parquet", "gzip.parquet", "polars.parquet"] {
        is_read(&named(name));
    }
}

#[test]
fn a_compression_that_is_not_read_is_named_with_those_that_are() {
    let error = open(&named("brotli.parquet")).err().expect("it was read").to_string();
    assert!(error.contains("BROTLI") && error.contains("compression=\"snappy\""), "{error}");
}

fn is_read(path: &Path) {
    let Ok(Predictions::Classification(file)) = open(path) else { panic!("{}", path.display()) };
    assert_eq!((file.form, file.source.members(), file.source.width()), (Form::Probs, 1, 2));
    let mut all = [0.0; 10];
    file.source.read(0, 0..5, &mut all);
    assert_eq!(all, [0.5, 0.5, 0.25, 0.75, 0.125, 0.875, 0.75, 0.25, 0.375, 0.625]);
    assert_eq!(file.labels, Some(vec![0, 1, 1, 0, 1]));
    assert_eq!(file.groups.get(""), Some(&[3, 3, 4, 4, 4][..]));
    assert_eq!(file.notes, [Note::Remark("not used: file".to_string())]);
}

#[test]
fn a_file_that_is_cut_short_or_no_parquet_is_refused() {
    let whole = std::fs::read(fixture()).expect("the fixture");
    for bytes in [&whole[..whole.len() / 2], &whole[..12], b"PAR1", b""] {
        let error = refused(bytes);
        assert!(error.what.starts_with("not a readable Parquet file"), "{error}");
    }
}

/// Damage anywhere in the file may be refused or go unseen, but nothing panics.
#[test]
fn a_damaged_file_does_not_panic() {
    let whole = std::fs::read(fixture()).expect("the fixture");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.parquet");
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        std::fs::write(&path, &bytes).expect("written");
        let _ = open(&path);
    }
}
