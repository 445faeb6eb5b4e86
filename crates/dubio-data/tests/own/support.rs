//! Files to read, and what was read.

use std::fs;
use std::path::Path;

use dubio_data::dataset::{Dataset, Inputs};
use dubio_data::sets::{self, Part};

pub(crate) fn written(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

pub(crate) fn name(folder: &Path, rest: &str) -> String {
    format!("{}/{rest}", folder.display())
}

pub(crate) fn load(name: &str, part: Part) -> Dataset {
    let halves = sets::halves(name).unwrap_or_else(|e| panic!("{e}"));
    halves.name.set.load(Path::new(""), part).unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn mistake(name: &str) -> String {
    sets::halves(name).map(|_| ()).expect_err("a mistake").to_string()
}

pub(crate) fn features(data: &Dataset) -> (usize, &[f64]) {
    match &data.inputs {
        Inputs::Features { width, values } => (*width, values),
        Inputs::Images(_) => panic!("features"),
    }
}

pub(crate) fn png(path: &Path, side: u32, value: u8) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    let mut encoder = png::Encoder::new(fs::File::create(path).expect("made"), side, side);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().expect("written");
    writer.write_image_data(&vec![value; (side * side) as usize]).expect("written");
}

/// A `.npy` file, version 1.0.
pub(crate) fn npy(path: &Path, dtype: &str, shape: &[usize], bytes: &[u8]) {
    let axes: String = shape.iter().map(|axis| format!("{axis},")).collect();
    let mut header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({axes}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    let whole = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), bytes].concat();
    fs::write(path, whole).expect("written");
}

pub(crate) fn floats(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub(crate) fn whole(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// As an OOD set is read: all of it, unless `part` says otherwise.
pub(crate) fn load_part(name: &str) -> Dataset {
    let parsed = sets::parse(name).unwrap_or_else(|e| panic!("{e}"));
    parsed.set.load(Path::new(""), parsed.part.expect("a part")).unwrap_or_else(|e| panic!("{e}"))
}

/// A table whose `split` column says what is for training.
pub(crate) const HOMES: &str =
    "city,rooms,price,split\nOslo,3,10.5,train\nBern,2,8.25,train\nOslo,1,4.5,test\n";
