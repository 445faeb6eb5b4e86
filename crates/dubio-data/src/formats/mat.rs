//! MATLAB's level 5 files, as far as SVHN needs them: an array `X` of bytes, `[32, 32, 3,
//! images]`, and labels `y`, 1 to 10, of which 10 stands for the digit 0. Both byte orders, and
//! variables packed with zlib or plain. Other variables are passed over.
//!
//! A file is 128 bytes of header (version and byte order in the last four) and then elements: a
//! tag of type and length, and the data, padded to 8 bytes; up to four bytes of data may lie in
//! the tag itself. An array is an element of elements: flags, dimensions, name, data, the first
//! index running fastest. "MAT-File Format", The MathWorks, chapter 1.

use std::io::Read;
use std::path::Path;

use flate2::bufread::ZlibDecoder;

use super::{DAMAGED, colour_images, gzip, rows_from_columns};
use crate::dataset::Dataset;
use crate::error::Error;

const HEADER: usize = 128;
const SIDE: usize = 32;

/// Types of elements.
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
const UINT8: u32 = 2;

/// Longest flags, dimensions or name that are read, in bytes.
const LONGEST: usize = 1 << 10;

/// Reads SVHN's cropped digits.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Dataset, Error> {
    let file = File { path, order: order(path, bytes)? };
    let (mut images, mut digits) = (None, None);
    let mut rest = &bytes[HEADER..];
    while !rest.is_empty() {
        let (kind, data) = file.top_level(&mut rest)?;
        let variable = match kind {
            MATRIX => file.variable(&mut &data[..])?,
            COMPRESSED => file.packed(data)?,
            _ => None,
        };
        match variable {
            Some(Variable::Images(pixels)) => images = Some(pixels),
            Some(Variable::Digits(labels)) => digits = Some(labels),
            None => {}
        }
    }
    let missing = |name| move || file.fault(format!("there is no variable `{name}`"));
    let columns: Vec<u8> = images.ok_or_else(missing("X"))?;
    let labels: Vec<u32> = digits.ok_or_else(missing("y"))?;
    if labels.len() != columns.len() / (3 * SIDE * SIDE) {
        let count = columns.len() / (3 * SIDE * SIDE);
        return Err(file.fault(format!("{} labels `y` for {count} images `X`", labels.len())));
    }
    let pixels = rows_from_columns(&columns, SIDE, SIDE);
    Ok(colour_images(SIDE, pixels, 10, labels))
}

#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

fn order(path: &Path, bytes: &[u8]) -> Result<Order, Error> {
    match bytes.get(124..HEADER) {
        Some([0x00, 0x01, b'I', b'M']) => Ok(Order::Little),
        Some([0x01, 0x00, b'M', b'I']) => Ok(Order::Big),
        _ if bytes.starts_with(b"MATLAB 7.3") => {
            let advice = "save it with `-v7`, or fetch the published file";
            Err(Error::new(path, "a MATLAB 7.3 file, which is HDF5", advice))
        }
        _ => Err(Error::new(path, "no MATLAB level 5 header at its start", DAMAGED)),
    }
}

/// What the two variables hold.
enum Variable {
    /// `X`, as it lies in the file: columns of planes of images.
    Images(Vec<u8>),
    /// `y`, with 0 for the digit 0.
    Digits(Vec<u32>),
}

#[derive(Clone, Copy)]
struct File<'a> {
    path: &'a Path,
    order: Order,
}

impl File<'_> {
    fn fault(&self, what: impl std::fmt::Display) -> Error {
        Error::new(self.path, what, DAMAGED)
    }

    fn word(&self, bytes: [u8; 4]) -> u32 {
        match self.order {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        }
    }

    /// Type and data of the next element of the file.
    fn top_level<'b>(&self, rest: &mut &'b [u8]) -> Result<(u32, &'b [u8]), Error> {
        let cut = || self.fault("its last variable is cut short");
        let (tag, after) = rest.split_first_chunk::<8>().ok_or_else(cut)?;
        let (kind, length) = self.tag(*tag);
        let (data, after) = after.split_at_checked(length).ok_or_else(cut)?;
        // Only packed elements are not padded; the padding of the last may be missing.
        let padding = if kind == COMPRESSED { 0 } else { length.next_multiple_of(8) - length };
        *rest = &after[padding.min(after.len())..];
        Ok((kind, data))
    }

    fn tag(&self, tag: [u8; 8]) -> (u32, usize) {
        let [a, b, c, d, e, f, g, h] = tag;
        (self.word([a, b, c, d]), self.word([e, f, g, h]) as usize)
    }

    fn packed(&self, data: &[u8]) -> Result<Option<Variable>, Error> {
        let mut reader = ZlibDecoder::new(data);
        let tag = gzip::exactly(self.path, &mut reader, 8)?;
        let (kind, length) = self.tag(tag.try_into().unwrap_or_default());
        if kind != MATRIX {
            return Ok(None);
        }
        if !gzip::can_hold(data.len(), length) {
            let packed = data.len();
            return Err(self.fault(format!("{length} bytes cannot come out of {packed} packed")));
        }
        let mut reader = reader.take(length as u64);
        let variable = self.variable(&mut reader)?;
        if variable.is_some() {
            // Only padding is left; reading to the end verifies the checksum.
            std::io::copy(&mut reader, &mut std::io::sink()).map_err(|error| self.fault(error))?;
            gzip::ends(self.path, &mut reader.into_inner())?;
        }
        Ok(variable)
    }

    /// The variable in an element of type matrix, if it is one of the two.
    fn variable(&self, reader: &mut impl Read) -> Result<Option<Variable>, Error> {
        let (_, flags) = self.element(reader, LONGEST)?;
        let (_, dimensions) = self.element(reader, LONGEST)?;
        let (_, name) = self.element(reader, LONGEST)?;
        let words = |bytes: &[u8]| -> Vec<usize> {
            bytes.as_chunks().0.iter().map(|&word| self.word(word) as usize).collect()
        };
        let (flags, shape) = (words(&flags), words(&dimensions));
        if name != b"X" && name != b"y" {
            return Ok(None);
        }
        let class = flags.first().map_or(0, |flags| flags & 0xff);
        let complex = flags.first().is_some_and(|flags| flags & 0x0800 != 0);
        if complex || !(6..=15).contains(&class) {
            let name = String::from_utf8_lossy(&name).into_owned();
            return Err(self.fault(format!("`{name}` is no array of real numbers")));
        }
        if name == b"X" {
            return self.images(reader, &shape).map(|pixels| Some(Variable::Images(pixels)));
        }
        let (kind, data) = self.element(reader, usize::MAX)?;
        let digits = self.digits(kind, &data)?;
        if shape.iter().try_fold(1_usize, |n, &axis| n.checked_mul(axis)) != Some(digits.len()) {
            return Err(self.fault(format!("`y` of shape {shape:?} has {} labels", digits.len())));
        }
        Ok(Some(Variable::Digits(digits)))
    }

    fn images(&self, reader: &mut impl Read, shape: &[usize]) -> Result<Vec<u8>, Error> {
        let count = match *shape {
            [SIDE, SIDE, 3] => 1,
            [SIDE, SIDE, 3, count] if count > 0 => count,
            _ => return Err(self.fault(format!("`X` has shape {shape:?}, not [32, 32, 3, n]"))),
        };
        let (kind, data) = self.element(reader, usize::MAX)?;
        if kind != UINT8 || count.checked_mul(3 * SIDE * SIDE) != Some(data.len()) {
            let found = data.len();
            return Err(
                self.fault(format!("`X` of shape {shape:?} has {found} bytes of type {kind}"))
            );
        }
        Ok(data)
    }

    /// Reads the next element inside a matrix. Its padding is read, too, unless `longest` is `usize::MAX`.
    fn element(&self, reader: &mut impl Read, longest: usize) -> Result<(u32, Vec<u8>), Error> {
        let tag = gzip::exactly(self.path, reader, 8)?;
        let (first, length) = self.tag(tag[..].try_into().unwrap_or_default());
        if first >> 16 != 0 {
            let length = (first >> 16) as usize;
            let data = tag[4..].get(..length);
            let data =
                data.ok_or_else(|| self.fault(format!("{length} bytes in a tag of four")))?;
            return Ok((first & 0xffff, data.to_vec()));
        }
        if length > longest {
            return Err(self.fault(format!("{length} bytes where at most {longest} belong")));
        }
        let data = gzip::exactly(self.path, reader, length)?;
        if longest != usize::MAX {
            gzip::exactly(self.path, reader, length.next_multiple_of(8) - length)?;
        }
        Ok((first, data))
    }

    /// Numbers of any type as digits.
    fn digits(&self, kind: u32, data: &[u8]) -> Result<Vec<u32>, Error> {
        let size = match kind {
            1 | 2 => 1,
            3 | 4 => 2,
            5..=7 => 4,
            9 => 8,
            _ => return Err(self.fault(format!("`y` has elements of type {kind}"))),
        };
        let digit = |(row, bytes): (usize, &[u8])| match self.number(kind, bytes) {
            10.0 => Ok(0),
            label @ 1.0..10.0 if label.fract() == 0.0 => Ok(label as u32),
            label => Err(self.fault(format!("label {label} in row {row} of `y`, not 1 to 10"))),
        };
        data.chunks_exact(size).enumerate().map(digit).collect()
    }

    /// One number. Integers are read as unsigned, since labels are not negative.
    fn number(&self, kind: u32, bytes: &[u8]) -> f64 {
        let mut wide = [0; 8];
        for (i, &byte) in bytes.iter().enumerate() {
            let place = match self.order {
                Order::Little => i,
                Order::Big => bytes.len() - 1 - i,
            };
            wide[place] = byte;
        }
        match kind {
            7 => f64::from(f32::from_bits(u64::from_le_bytes(wide) as u32)),
            9 => f64::from_le_bytes(wide),
            _ => u64::from_le_bytes(wide) as f64,
        }
    }
}
