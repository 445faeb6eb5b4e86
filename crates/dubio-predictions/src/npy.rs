//! The header of an `.npy` array.

use npyz::{DType, NpyHeader, TypeChar};

use crate::array::{Array, Dtype, Endian, Float, Integer, Order, byte_len};
use crate::bytes::Bytes;
use crate::error::Fault;

const DAMAGED: &str = "the file is damaged or no .npy array: write it again with numpy.save";

/// Longest header text that is looked at; numpy's own limit is 10,000.
const LONGEST_HEADER: usize = 1 << 14;

/// What the header of an array says.
pub(crate) struct Header {
    dtype: Dtype,
    shape: Vec<u64>,
    order: Order,
    /// Length of the header itself.
    start: usize,
    /// Length of the data behind it.
    length: usize,
}

impl Header {
    /// Reads the header at the start of some bytes, which may end before the data do.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let start = text_end(bytes)?;
        let header = NpyHeader::from_reader(&bytes[..start])
            .map_err(|e| Fault::new(format!("unreadable header: {e}"), DAMAGED))?;
        let dtype = dtype(&header.dtype())?;
        let order = match header.order() {
            npyz::Order::C => Order::C,
            npyz::Order::Fortran => Order::Fortran,
        };
        let shape = header.shape().to_vec();
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
        let found = bytes.get().len();
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

/// Where the header ends, from its own first bytes: checked here because the claimed length must
/// not be believed before it is compared with what is there.
fn text_end(bytes: &[u8]) -> Result<usize, Fault> {
    let cut = || Fault::new("the header is cut short", DAMAGED);
    if bytes.len() < 8 || &bytes[..6] != b"\x93NUMPY" {
        return Err(Fault::new("no .npy header", DAMAGED));
    }
    let (prefix, text) = match bytes[6] {
        1 => (10, usize::from(u16::from_le_bytes(*bytes[8..].first_chunk().ok_or_else(cut)?))),
        _ => (12, u32::from_le_bytes(*bytes[8..].first_chunk().ok_or_else(cut)?) as usize),
    };
    if text > LONGEST_HEADER {
        return Err(Fault::new(format!("a header of {text} bytes"), DAMAGED));
    }
    let end = prefix + text;
    if bytes.len() < end {
        return Err(cut());
    }
    // The header is one Python literal; real ones nest two deep, and a parser that recurses on a
    // hostile one must not be let loose on it.
    let depth = bytes[prefix..end].iter().filter(|b| matches!(b, b'(' | b'[' | b'{')).count();
    if depth > 64 {
        return Err(Fault::new("a header that nests too deep", DAMAGED));
    }
    Ok(end)
}

fn dtype(dtype: &DType) -> Result<Dtype, Fault> {
    let unknown = |name: String| {
        Fault::new(
            format!("dtype {name} is not one that holds predictions or labels"),
            "use float16, float32 or float64 for predictions and an integer dtype for labels",
        )
    };
    let DType::Plain(plain) = dtype else { return Err(unknown(dtype.descr())) };
    let endian = match plain.endianness() {
        npyz::Endianness::Big => Endian::Big,
        npyz::Endianness::Little | npyz::Endianness::Irrelevant => Endian::Little,
    };
    match (plain.type_char(), plain.size_field()) {
        (TypeChar::Float, 2) => Ok(Dtype::Float(Float::F16, endian)),
        (TypeChar::Float, 4) => Ok(Dtype::Float(Float::F32, endian)),
        (TypeChar::Float, 8) => Ok(Dtype::Float(Float::F64, endian)),
        (TypeChar::Int, 1) => Ok(Dtype::Integer(Integer::I8, endian)),
        (TypeChar::Int, 2) => Ok(Dtype::Integer(Integer::I16, endian)),
        (TypeChar::Int, 4) => Ok(Dtype::Integer(Integer::I32, endian)),
        (TypeChar::Int, 8) => Ok(Dtype::Integer(Integer::I64, endian)),
        (TypeChar::Uint, 1) => Ok(Dtype::Integer(Integer::U8, endian)),
        (TypeChar::Uint, 2) => Ok(Dtype::Integer(Integer::U16, endian)),
        (TypeChar::Uint, 4) => Ok(Dtype::Integer(Integer::U32, endian)),
        (TypeChar::Uint, 8) => Ok(Dtype::Integer(Integer::U64, endian)),
        (TypeChar::Object, _) => Err(Fault::new(
            "an object array, which holds Python objects and not numbers",
            "save it with a numeric dtype; rows of unequal length are the usual cause",
        )),
        _ => Err(unknown(dtype.descr())),
    }
}
