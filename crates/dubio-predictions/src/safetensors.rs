//! A `.safetensors` file.

use std::path::Path;

use safetensors::SafeTensors;
use safetensors::tensor::Dtype as Kind;

use crate::Arrays;
use crate::array::{Array, Dtype, Endian, Float, Integer, Order};
use crate::bytes::Bytes;
use crate::error::{Error, Fault};

/// Maps the tensors of a file.
pub(crate) fn read(path: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Arrays, Error> {
    let file = Bytes::map(path).map_err(|e| Error::io(path, &e))?;
    let (header, metadata) = SafeTensors::read_metadata(file.get()).map_err(|e| {
        Error::file(path, format!("not a readable .safetensors file: {e}"), "write it again")
    })?;
    let mut arrays = Arrays::default();
    for (name, tensor) in metadata.tensors() {
        let data_start = header + 8;
        let (start, end) = tensor.data_offsets;
        let array = || {
            file.slice(data_start + start..data_start + end)
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

fn dtype(kind: Kind) -> Result<Dtype, Fault> {
    let float = |float| Ok(Dtype::Float(float, Endian::Little));
    let integer = |integer| Ok(Dtype::Integer(integer, Endian::Little));
    match kind {
        Kind::F16 => float(Float::F16),
        Kind::F32 => float(Float::F32),
        Kind::F64 => float(Float::F64),
        Kind::I8 => integer(Integer::I8),
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
