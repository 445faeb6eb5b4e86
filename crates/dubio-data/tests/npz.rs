//! A user's own data as arrays.

use std::fs;
use std::path::Path;

use dubio_data::Error;
use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_data::formats::npz;

/// An `.npy` of bytes already in place.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let header =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn read(arrays: &[(&str, Vec<u8>)], classes: Option<usize>) -> Result<Dataset, Error> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in arrays {
        fs::write(folder.path().join(format!("{name}.npy")), bytes).expect("a file");
    }
    npz::read(folder.path(), classes)
}

#[test]
fn images_and_labels_are_read_in_either_order_of_elements() {
    let labels = npy(">i2", false, "(2,)", &[0, 2, 0, 0]);
    let row = npy("|u1", false, "(2, 1, 1, 2)", &[1, 2, 3, 4]);
    let column = npy("|u1", true, "(2, 1, 1, 2)", &[1, 3, 2, 4]);
    for inputs in [row, column] {
        let groups = npy("<i8", false, "(2,)", &[[7; 1].as_slice(), &[0; 15]].concat());
        let arrays = [("inputs", inputs), ("labels", labels.clone()), ("groups.site", groups)];
        let data = read(&arrays, None).expect("a set");
        let Inputs::Images(images) = &data.inputs else { panic!("images") };
        assert_eq!((images.len(), &images.pixels[..]), (2, &[1, 2, 3, 4][..]));
        assert_eq!(data.answers, Answers::Classes { classes: 3, labels: vec![2, 0] });
        assert_eq!(data.groups["site"], [7, 0]);
    }
}

#[test]
fn features_and_targets_are_read() {
    let inputs = npy("<f4", true, "(3, 2)", &floats(&[1.0, 2.0, 3.0, 10.0, 20.0, 30.0]));
    let targets = npy("<f4", false, "(3,)", &floats(&[0.5, 1.5, 2.5]));
    let data = read(&[("inputs", inputs), ("targets", targets)], None).expect("a set");
    let values = vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0];
    assert_eq!(data.inputs, Inputs::Features { width: 2, values });
    assert_eq!(data.answers, Answers::Targets(vec![0.5, 1.5, 2.5]));
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let inputs = || ("inputs", npy("<f4", false, "(2, 1)", &floats(&[1.0, 2.0])));
    let labels = |data: &[u8]| ("labels", npy("|i1", false, &format!("({},)", data.len()), data));
    let refused = |arrays: &[(&str, Vec<u8>)], classes: Option<usize>, words: &str| {
        let error = read(arrays, classes).expect_err(words);
        assert!(error.to_string().contains(words), "{error}");
        assert!(!error.advice.is_empty(), "{error}");
    };
    refused(&[labels(&[0, 1])], None, "no array `inputs` among labels");
    let unlabelled = read(&[inputs()], None).expect("an OOD set");
    assert_eq!(unlabelled.answers, Answers::Unlabelled(2));
    refused(&[inputs(), labels(&[0, 1, 2])], None, "array `labels`: shape [3]");
    refused(&[inputs(), labels(&[0, 255])], None, "array `labels`: -1 in row 1");
    refused(&[inputs(), labels(&[0, 5])], Some(5), "5 in row 1, where there are 5 classes");
    let float_labels = ("labels", npy("<f4", false, "(2,)", &floats(&[0.0, 1.0])));
    refused(&[inputs(), float_labels], None, "no whole numbers");
    // numpy.argwhere(numpy.isnan(inputs)) of [[1, 2, 3], [4, nan, 6]]
    let numbers = floats(&[1.0, 2.0, 3.0, 4.0, f32::NAN, 6.0]);
    let gap = ("inputs", npy("<f4", false, "(2, 3)", &numbers));
    refused(&[gap, labels(&[0, 1])], None, "array `inputs`: NaN at [1, 1]");
    let images = ("inputs", npy("<f4", false, "(1, 1, 2)", &floats(&[1.0, 2.0])));
    refused(&[images, labels(&[0])], None, "images that are not uint8");
    let empty = ("inputs", npy("<f4", false, "(0, 2)", &[]));
    refused(&[empty, labels(&[])], None, "is empty");
    let lying = ("inputs", npy("<f4", false, "(2, 4294967296)", &floats(&[1.0])));
    refused(&[lying, labels(&[0, 1])], None, "needs 34359738368 bytes, there are 4");
    let missing = npz::read(Path::new("no/such/file.npz"), None).expect_err("missing");
    assert!(missing.to_string().starts_with("no/such/file.npz"), "{missing}");
}
