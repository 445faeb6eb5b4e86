//! The header of an `.npy` array.

use std::ops::Range;

use crate::array::{Array, Order, byte_len};
use crate::bytes::Bytes;
use crate::dtype::{Dtype, Endian, Float, Integer};
use crate::error::Fault;

const DAMAGED: &str = "the file is damaged or no .npy array: write it again with numpy.save";

/// Longest header text that is read, in bytes; numpy's own limit is 10,000.
const LONGEST_HEADER: usize = 1 << 14;

/// What the header of an array says.
pub(crate) struct Header {
    dtype: Dtype,
    shape: Vec<u64>,
    order: Order,
    /// Length of the header itself.
    start: usize,
    /// Length of the data that follow it.
    length: usize,
}

/// The header of an array in C order, padded so that the data are aligned as numpy wants them.
pub(crate) fn header(dtype: &str, shape: &[usize]) -> Vec<u8> {
    let axes: String = shape.iter().map(|axis| format!("{axis},")).collect();
    let text = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({axes}), }}");
    let padded = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((padded as u16).to_le_bytes());
    bytes.extend(format!("{text:<width$}\n", width = padded - 1).bytes());
    bytes
}

impl Header {
    /// Reads the header of an array.
    pub(crate) fn of(bytes: &Bytes) -> Result<Self, Fault> {
        let head = bytes.head(LONGEST_HEADER + 12).map_err(|e| Fault::unread(&e))?;
        Self::parse(&head)
    }

    /// Reads the header at the start of some bytes, which may end before the data do.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let text = text(bytes)?;
        let start = text.end;
        let (dtype, order, shape) = Text(&String::from_utf8_lossy(&bytes[text])).header()?;
        let length = byte_len(&shape, dtype).ok_or_else(|| {
            Fault::new(format!("shape {shape:?} is larger than any memory"), DAMAGED)
        })?;
        Ok(Self { dtype, shape, order, start, length })
    }

    /// Length of header and data together.
    pub(crate) fn total(&self) -> Option<usize> {
        self.start.checked_add(self.length)
    }

    /// The array, from all of its bytes, header included.
    pub(crate) fn array(&self, bytes: &Bytes) -> Result<Array, Fault> {
        let found = bytes.len();
        let data = self.total().and_then(|end| bytes.slice(self.start..end));
        let data = data.filter(|_| self.total() == Some(found)).ok_or_else(|| {
            Fault::new(
                format!(
                    "shape {:?} needs {} bytes, there are {}",
                    self.shape,
                    self.length,
                    found - self.start
                ),
                "the file is cut short or damaged: write it again",
            )
        })?;
        Array::new(data, self.dtype, &self.shape, self.order)
    }
}

/// Where the text of the header lies, from its first bytes: the length that they claim must not be
/// believed before it is compared with what is there.
fn text(bytes: &[u8]) -> Result<Range<usize>, Fault> {
    let cut = || Fault::new("the header is cut short", DAMAGED);
    if !bytes.starts_with(b"\x93NUMPY") {
        return Err(Fault::new("no .npy header", DAMAGED));
    }
    let (start, length) = match bytes[6..] {
        [1, 0, a, b, ..] => (10, usize::from(u16::from_le_bytes([a, b]))),
        [2 | 3, 0, a, b, c, d, ..] => (12, u32::from_le_bytes([a, b, c, d]) as usize),
        [major, minor, ..] if !matches!((major, minor), (1..=3, 0)) => {
            return Err(Fault::new(format!(".npy version {major}.{minor}"), DAMAGED));
        }
        _ => return Err(cut()),
    };
    if length > LONGEST_HEADER {
        return Err(Fault::new(format!("a header of {length} bytes"), DAMAGED));
    }
    if bytes.len() < start + length {
        return Err(cut());
    }
    Ok(start..start + length)
}

/// What is left to read of a header's text, `{'descr': '<f4', 'fortran_order': False, 'shape':
/// (3, 4), }`. That is a Python literal, but no parser for Python literals is used: a header can be
/// forged, and such parsers recurse, with time that doubles at every bracket.
struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    fn header(&mut self) -> Result<(Dtype, Order, Vec<u64>), Fault> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect("{")?;
        while !self.take("}") {
            let key = self.string()?;
            self.expect(":")?;
            match key {
                "descr" => descr = Some(dtype(self.descr()?)?),
                "fortran_order" => fortran = Some(self.boolean()?),
                "shape" => shape = Some(self.shape()?),
                _ => return Err(Fault::new(format!("{key:?} in the header"), DAMAGED)),
            }
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        if !self.0.trim().is_empty() {
            return Err(self.unreadable());
        }
        let missing = |key| move || Fault::new(format!("no '{key}' in the header"), DAMAGED);
        let fortran = fortran.ok_or_else(missing("fortran_order"))?;
        let order = if fortran { Order::Fortran } else { Order::C };
        Ok((descr.ok_or_else(missing("descr"))?, order, shape.ok_or_else(missing("shape"))?))
    }

    /// Whether this comes next; if so, it is skipped.
    fn take(&mut self, token: &str) -> bool {
        let rest = self.0.trim_start().strip_prefix(token);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), Fault> {
        if self.take(token) { Ok(()) } else { Err(self.unreadable()) }
    }

    fn unreadable(&self) -> Fault {
        let place: String = self.0.trim().chars().take(24).collect();
        Fault::new(format!("unreadable header at {place:?}"), DAMAGED)
    }

    fn string(&mut self) -> Result<&'a str, Fault> {
        let text = self.0.trim_start();
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let found = quote.and_then(|quote| text[1..].split_once(quote));
        let (string, rest) = found.ok_or_else(|| self.unreadable())?;
        self.0 = rest;
        Ok(string)
    }

    fn descr(&mut self) -> Result<&'a str, Fault> {
        if self.take("[") {
            let what = "a structured dtype, which holds records and not numbers";
            return Err(Fault::new(what, "save each field as an array of its own"));
        }
        self.string()
    }

    fn boolean(&mut self) -> Result<bool, Fault> {
        let found = self.take("True");
        if !found {
            self.expect("False")?;
        }
        Ok(found)
    }

    fn shape(&mut self) -> Result<Vec<u64>, Fault> {
        let mut shape = Vec::new();
        self.expect("(")?;
        while !self.take(")") {
            shape.push(self.axis()?);
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(shape)
    }

    fn axis(&mut self) -> Result<u64, Fault> {
        let text = self.0.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let axis = text[..end].parse().map_err(|_| self.unreadable())?;
        self.0 = &text[end..];
        Ok(axis)
    }
}

pub(crate) fn dtype(descr: &str) -> Result<Dtype, Fault> {
    let endian = if descr.starts_with('>') { Endian::Big } else { Endian::Little };
    let float = |float| Ok(Dtype::Float(float, endian));
    let integer = |integer| Ok(Dtype::Integer(integer, endian));
    match descr.strip_prefix(['<', '>', '|']).unwrap_or_default() {
        "f2" => float(Float::F16),
        "f4" => float(Float::F32),
        "f8" => float(Float::F64),
        "i1" => integer(Integer::I8),
        "i2" => integer(Integer::I16),
        "i4" => integer(Integer::I32),
        "i8" => integer(Integer::I64),
        // NumPy writes False as 0 and True as 1.
        "u1" | "b1" => integer(Integer::U8),
        "u2" => integer(Integer::U16),
        "u4" => integer(Integer::U32),
        "u8" => integer(Integer::U64),
        "O" => Err(Fault::new(
            "an object array, which holds Python objects and not numbers",
            "save it with a numeric dtype; rows of unequal length are the usual cause",
        )),
        _ => Err(Fault::new(
            format!("dtype {descr:?} is not one that holds predictions or labels"),
            "use float16, float32 or float64 for predictions and an integer dtype for labels",
        )),
    }
}
