//! Predictions files made byte by byte, so that they can be wrong in every way.

use std::io::{Cursor, Write};

use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Signatures of a zip archive's records.
pub(crate) const LOCAL: [u8; 4] = *b"PK\x03\x04";
pub(crate) const CENTRAL: [u8; 4] = *b"PK\x01\x02";
pub(crate) const END: [u8; 4] = *b"PK\x05\x06";
/// Where fields lie in a central record, and in the end record.
pub(crate) const FLAGS: usize = 8;
pub(crate) const METHOD: usize = 10;
pub(crate) const CRC: usize = 16;
pub(crate) const PACKED: usize = 20;
pub(crate) const SIZE: usize = 24;
pub(crate) const OFFSET: usize = 42;
pub(crate) const ENTRIES: usize = 8;

/// The text of a header, from Python literals.
pub(crate) fn header(descr: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
}

/// An `.npy` file of version 1.
pub(crate) fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

/// An `.npy` file of a later version, whose header may claim any length.
pub(crate) fn npy_long(version: u8, length: u32, header: &str, data: &[u8]) -> Vec<u8> {
    let start = [b"\x93NUMPY", &[version, 0][..], &length.to_le_bytes()].concat();
    [&start, header.as_bytes(), data].concat()
}

/// An array in C order.
pub(crate) fn array(descr: &str, shape: &[usize], values: &[f64]) -> Vec<u8> {
    npy(&header(&format!("'{descr}'"), "False", &tuple(shape)), &encode(descr, values))
}

/// The same array in Fortran order.
pub(crate) fn fortran(descr: &str, shape: &[usize], values: &[f64]) -> Vec<u8> {
    let mut turned = vec![0.0; values.len()];
    for (index, value) in values.iter().enumerate() {
        let (mut rest, mut place, mut stride) = (index, 0, values.len());
        for axis in shape.iter().rev() {
            stride /= axis;
            place += rest % axis * stride;
            rest /= axis;
        }
        turned[place] = *value;
    }
    npy(&header(&format!("'{descr}'"), "True", &tuple(shape)), &encode(descr, &turned))
}

fn tuple(shape: &[usize]) -> String {
    let axes: Vec<String> = shape.iter().map(|axis| format!("{axis},")).collect();
    format!("({})", axes.join(" "))
}

/// The bytes of numbers that the dtype can hold.
pub(crate) fn encode(descr: &str, values: &[f64]) -> Vec<u8> {
    let one = |&x: &f64| {
        let mut bytes = match &descr[1..] {
            "f8" => x.to_be_bytes().to_vec(),
            "f4" => (x as f32).to_be_bytes().to_vec(),
            "f2" => half(x as f32).to_be_bytes().to_vec(),
            _ => (x as i128).to_be_bytes()[16 - usize::from(descr.as_bytes()[2] - b'0')..].to_vec(),
        };
        if !descr.starts_with('>') {
            bytes.reverse();
        }
        bytes
    };
    values.iter().flat_map(one).collect()
}

/// The half-precision bits of a number that is exact in it, and 0 or not subnormal.
fn half(x: f32) -> u16 {
    let bits = x.to_bits();
    let exponent = ((bits >> 23) & 0xff).saturating_sub(127 - 15);
    ((bits >> 16) & 0x8000 | (exponent << 10) | (bits >> 13) & 0x3ff) as u16
}

/// An `.npz` archive as `numpy.savez` writes it.
pub(crate) fn stored(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    archive(arrays, CompressionMethod::Stored)
}

/// An `.npz` archive as `numpy.savez_compressed` writes it.
pub(crate) fn deflated(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    archive(arrays, CompressionMethod::Deflated)
}

fn archive(arrays: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
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

/// A `.safetensors` file; its header may claim to be longer than it is.
pub(crate) fn safetensors(more: u64, header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u64).wrapping_add(more).to_le_bytes();
    [&length[..], header.as_bytes(), data].concat()
}
