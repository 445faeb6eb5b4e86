//! What is written: what numpy and safetensors would write (`fixtures/make.py`), or an error and no file.

use std::fs::{File, create_dir, read, read_dir, write as put};
use std::io::Read;
use std::path::{Path, PathBuf};

use dubio_predictions::{Floats, Output, write, write_whole};
use zip::{CompressionMethod, ZipArchive};

fn fixture(name: &str) -> Vec<u8> {
    read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name))
        .expect("a fixture")
}

/// The predictions of `make.py`'s folder `written`.
fn written(path: &Path) {
    let values: Vec<f32> = (0..24).map(|i| i as f32 / 8.0).collect();
    let floats = vec![Floats { name: "logits", values: &values, shape: vec![2, 4, 3] }];
    let integers = vec![("labels".to_string(), vec![2, 0, 1, 1])];
    write(path, &Output { floats, integers }).expect("room");
}

/// The header of an array, however its spaces and commas are set, and its data.
fn parts(npy: &[u8]) -> (String, &[u8]) {
    let data = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    assert_eq!((&npy[..8], data % 64), (&b"\x93NUMPY\x01\x00"[..], 0));
    let header: String = npy[10..data].iter().map(|&byte| byte as char).collect();
    (header.replace(char::is_whitespace, "").replace(",)", ")"), &npy[data..])
}

#[test]
fn arrays_are_written_as_numpy_writes_them_in_a_folder_and_in_an_archive() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plain, packed) = (folder.path().join("p"), folder.path().join("p.npz"));
    written(&plain);
    written(&packed);
    let mut archive = ZipArchive::new(File::open(packed).expect("a file")).expect("an archive");
    assert_eq!(archive.len(), 2);
    for name in ["logits.npy", "labels.npy"] {
        let npy = read(plain.join(name)).expect("a file");
        assert_eq!(parts(&npy), parts(&fixture(&format!("written/{name}"))));
        let mut entry = archive.by_name(name).expect("an entry");
        assert_eq!(entry.compression(), CompressionMethod::Stored);
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("a right checksum");
        assert_eq!(bytes, npy);
    }
}

#[test]
fn safetensors_are_written_as_their_own_library_writes_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.safetensors");
    written(&path);
    assert_eq!(read(path).expect("a file"), fixture("written.safetensors"));
}

#[test]
fn numbers_that_do_not_fill_their_shape_are_an_error_and_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["p.npz", "p.safetensors", "p"] {
        for shape in [vec![2, 4], vec![7, 1], vec![usize::MAX, 2], vec![]] {
            let path = folder.path().join(name);
            let floats = vec![Floats { name: "mean", values: &[0.5; 6], shape }];
            let error =
                write(&path, &Output { floats, integers: Vec::new() }).expect_err("unequal");
            assert_eq!(error.array.as_deref(), Some("mean"), "{error}");
            assert!(error.what.starts_with("6 numbers for shape"), "{error}");
            assert!(!path.exists());
        }
    }
}

#[test]
fn what_cannot_be_written_is_an_error_that_names_the_file_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a file");
    put(&file, "in the way").expect("room");
    create_dir(folder.path().join("taken.npz")).expect("room");
    let taken = ["missing/p.npz", "missing/p.safetensors", "a file/p", "taken.npz", "p.csv"];
    for path in taken.map(|name| folder.path().join(name)) {
        let error = write(&path, &Output { floats: Vec::new(), integers: Vec::new() });
        assert_eq!(error.expect_err("no room").path, path);
    }
    let fill = |to: &mut File| {
        std::io::Write::write_all(to, b"half").and(Err(std::io::Error::other("full")))
    };
    let error = write_whole(&file, fill).expect_err("full");
    assert_eq!(error.to_string(), "full");
    assert_eq!(read(&file).expect("a file"), b"in the way");
    let left = read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("one").path());
    let mut left: Vec<PathBuf> = left.collect();
    left.sort();
    assert_eq!(left, [file, folder.path().join("taken.npz")]);
}
