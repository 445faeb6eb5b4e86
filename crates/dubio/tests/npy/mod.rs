//! Predictions files made byte by byte, so that they can be wrong in every way.

use std::io::{Cursor, Write};

use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Signatures of a zip archive's records, and where in them their fields lie.
pub(crate) const LOCAL: [u8; 4] = *b"PK\x03\x04";
pub(crate) const CENTRAL: [u8; 4] = *b"PK\x01\x02";
pub(crate) const END: [u8; 4] = *b"PK\x05\x06";
pub(crate) const FLAGS: usize = 8;
pub(crate) const METHOD: usize = 10;
pub(crate) const CRC: usize = 16;
pub(crate) const PACKED: usize = 20;
pub(crate) const SIZE: usize = 24;
pub(crate) const OFFSET: usize = 42;
pub(crate) const ENTRIES: usize = 8;

/// The text of a header.
pub(crate) fn header(descr: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
}

/// An `.npy` file of version 1.
pub(crate) fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

/// An `.npy` file with a long header field, which may lie, as in versions 2 and 3.
pub(crate) fn npy_long(version: u8, length: u32, header: &str, data: &[u8]) -> Vec<u8> {
    let start = [b"\x93NUMPY", &[version, 0][..], &length.to_le_bytes()].concat();
    [&start, header.as_bytes(), data].concat()
}

/// A whole array, its elements in C order.
pub(crate) fn array(descr: &str, shape: &[usize], values: &[f64]) -> Vec<u8> {
    npy(&header(&format!("'{descr}'"), "False", &tuple(shape)), &encode(descr, values))
}

/// The same array in Fortran order.
pub(crate) fn fortran(descr: &str, shape: &[usize], values: &[f64]) -> Vec<u8> {
    let place = |c_place: usize| {
        let (mut rest, mut place, mut stride) = (c_place, 0, values.len());
        for axis in shape.iter().rev() {
            stride /= axis;
            place += rest % axis * stride;
            rest /= axis;
        }
        place
    };
    let mut turned = vec![0.0; values.len()];
    for (i, value) in values.iter().enumerate() {
        turned[place(i)] = *value;
    }
    npy(&header(&format!("'{descr}'"), "True", &tuple(shape)), &encode(descr, &turned))
}

fn tuple(shape: &[usize]) -> String {
    let axes: Vec<String> = shape.iter().map(|axis| format!("{axis},")).collect();
    format!("({})", axes.join(" "))
}

/// The bytes of numbers which the dtype can hold.
pub(crate) fn encode(descr: &str, values: &[f64]) -> Vec<u8> {
    let one = |&x: &f64| {
        let mut bytes = match &descr[1..] {
            "f8" => x.to_be_bytes().to_vec(),
            "f4" => (x as f32).to_be_bytes().to_vec(),
            "f2" => half(x as f32).to_be_bytes().to_vec(),
            "i8" => (x as i64).to_be_bytes().to_vec(),
            "i4" => (x as i32).to_be_bytes().to_vec(),
            "i2" => (x as i16).to_be_bytes().to_vec(),
            "i1" => (x as i8).to_be_bytes().to_vec(),
            "u8" => (x as u64).to_be_bytes().to_vec(),
            "u4" => (x as u32).to_be_bytes().to_vec(),
            "u2" => (x as u16).to_be_bytes().to_vec(),
            _ => vec![x as u8],
        };
        if !descr.starts_with('>') {
            bytes.reverse();
        }
        bytes
    };
    values.iter().flat_map(one).collect()
}

/// The half-precision bits of a number that is exact in it and not subnormal.
fn half(x: f32) -> u16 {
    let bits = x.to_bits();
    let exponent = (bits >> 23 & 0xff).saturating_sub(127 - 15);
    (bits >> 16 & 0x8000 | exponent << 10 | bits >> 13 & 0x3ff) as u16
}

/// Arrays by name.
pub(crate) type Arrays<'a> = Vec<(&'a str, Vec<u8>)>;

pub(crate) fn stored(arrays: &Arrays<'_>) -> Vec<u8> {
    archive(arrays, CompressionMethod::Stored)
}

pub(crate) fn deflated(arrays: &Arrays<'_>) -> Vec<u8> {
    archive(arrays, CompressionMethod::Deflated)
}

fn archive(arrays: &Arrays<'_>, method: CompressionMethod) -> Vec<u8> {
    let options = SimpleFileOptions::default().compression_method(method);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), options).expect("a name of its own");
        zip.write_all(bytes).expect("memory");
    }
    zip.finish().expect("memory").into_inner()
}

/// Overwrites a field of the first record of this kind.
pub(crate) fn forge(zip: &[u8], record: [u8; 4], field: usize, value: &[u8]) -> Vec<u8> {
    let mut zip = zip.to_vec();
    let at = zip.windows(4).position(|w| w == record).expect("the record") + field;
    zip[at..at + value.len()].copy_from_slice(value);
    zip
}

/// Replaces every occurrence of some bytes by as many others.
pub(crate) fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for at in 0..=bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
    bytes
}

/// A `.safetensors` file whose header may claim any length.
pub(crate) fn safetensors(length: Option<u64>, header: &str, data: &[u8]) -> Vec<u8> {
    let length = length.unwrap_or(header.len() as u64).to_le_bytes();
    [&length[..], header.as_bytes(), data].concat()
}
