//! A `.safetensors` file.

use std::path::Path;

use safetensors::tensor::{Dtype as Kind, Metadata};

use crate::Arrays;
use crate::array::{Array, Order};
use crate::bytes::Bytes;
use crate::dtype::{Dtype, Endian, Float, Integer};
use crate::error::{Error, Fault};

/// The longest header: a few hundred bytes name the arrays of a predictions file.
const LONGEST_HEADER: usize = 1 << 24;

/// Finds the tensors of a file.
pub(crate) fn read(
    path: &Path,
    file: &Bytes,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Arrays, Error> {
    let (data, metadata) = header(file).map_err(|what| {
        Error::file(path, format!("not a readable .safetensors file: {what}"), "write it again")
    })?;
    let mut arrays = Arrays::default();
    for name in metadata.offset_keys() {
        let Some(tensor) = metadata.info(&name) else { continue };
        let (start, end) = tensor.data_offsets;
        let array = || {
            file.slice(data + start..data + end)
                .ok_or_else(|| Fault::new("its data reach beyond the file", "write the file again"))
                .and_then(|bytes| {
                    let shape: Vec<u64> = tensor.shape.iter().map(|&axis| axis as u64).collect();
                    Array::new(bytes, dtype(tensor.dtype)?, &shape, Order::C)
                })
                .map_err(|fault| fault.at(path, &name))
        };
        arrays.note(&name, wanted, array)?;
    }
    Ok(arrays)
}

/// Where the data begin, and what the header says about them: eight bytes of length, then JSON. The
/// format's own crate reads this only from a file that is in memory as a whole.
fn header(file: &Bytes) -> Result<(usize, Metadata), String> {
    let head = file.head(8).map_err(|e| e.to_string())?;
    let length = head.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    let length = length.ok_or("the header is cut short")?;
    let data = usize::try_from(length).ok().filter(|&length| length <= LONGEST_HEADER);
    let data = 8 + data.ok_or_else(|| format!("a header of {length} bytes"))?;
    let text = file.head(data).map_err(|e| e.to_string())?;
    let text = text.get(8..data).ok_or("the header is cut short")?;
    let metadata: Metadata = serde_json::from_slice(text).map_err(|e| e.to_string())?;
    match data.checked_add(metadata.data_len()) {
        Some(end) if end == file.len() => Ok((data, metadata)),
        _ => Err(format!("{} bytes of data, there are {}", metadata.data_len(), file.len() - data)),
    }
}

fn dtype(kind: Kind) -> Result<Dtype, Fault> {
    let float = |float| Ok(Dtype::Float(float, Endian::Little));
    let integer = |integer| Ok(Dtype::Integer(integer, Endian::Little));
    match kind {
        Kind::F16 => float(Float::F16),
        Kind::BF16 => float(Float::BF16),
        Kind::F32 => float(Float::F32),
        Kind::F64 => float(Float::F64),
        Kind::I8 => integer(Integer::I8),
        Kind::BOOL => integer(Integer::U8),
        Kind::I16 => integer(Integer::I16),
        Kind::I32 => integer(Integer::I32),
        Kind::I64 => integer(Integer::I64),
        Kind::U8 => integer(Integer::U8),
        Kind::U16 => integer(Integer::U16),
        Kind::U32 => integer(Integer::U32),
        Kind::U64 => integer(Integer::U64),
        other => Err(Fault::new(
            format!("dtype {other:?} is not one that holds predictions or labels"),
            "convert it to float32, or to int64 for labels",
        )),
    }
}
