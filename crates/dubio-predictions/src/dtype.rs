//! Kinds of numbers, and numbers from their bytes.

use multiversion::multiversion;

/// Type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// Floating point, and whether the most significant byte comes first.
    Float(Float, Endian),
    /// Whole numbers.
    Integer(Integer, Endian),
}

/// Floating-point formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Float {
    F16,
    BF16,
    F32,
    F64,
}

/// Whole-number formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Integer {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

/// Order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Endian {
    Little,
    Big,
}

impl Dtype {
    /// Bytes per element.
    pub fn size(self) -> usize {
        match self {
            Self::Float(Float::F16 | Float::BF16, _)
            | Self::Integer(Integer::I16 | Integer::U16, _) => 2,
            Self::Float(Float::F32, _) | Self::Integer(Integer::I32 | Integer::U32, _) => 4,
            Self::Float(Float::F64, _) | Self::Integer(Integer::I64 | Integer::U64, _) => 8,
            Self::Integer(Integer::I8 | Integer::U8, _) => 1,
        }
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Float(Float::BF16, _) => "bfloat16".to_string(),
            Self::Float(..) => format!("float{}", 8 * self.size()),
            Self::Integer(..) => format!("{}-bit integers", 8 * self.size()),
        }
    }
}

/// One whole number from its bytes.
pub(crate) fn whole(kind: Integer, endian: Endian, bytes: &[u8]) -> i128 {
    let size = bytes.len();
    let mut wide = [0_u8; 8];
    for (i, &byte) in bytes.iter().enumerate() {
        wide[if endian == Endian::Little { i } else { size - 1 - i }] = byte;
    }
    let unsigned = u64::from_le_bytes(wide);
    let shift = 64 - 8 * size as u32;
    match kind {
        Integer::U8 | Integer::U16 | Integer::U32 | Integer::U64 => i128::from(unsigned),
        Integer::I8 | Integer::I16 | Integer::I32 | Integer::I64 => {
            i128::from(((unsigned << shift) as i64) >> shift)
        }
    }
}

/// Turns the bytes of numbers into f64, which holds every float exactly, and whole numbers up to 2^53.
#[multiversion(targets = "simd")]
pub(crate) fn decode(dtype: Dtype, bytes: &[u8], out: &mut [f64]) {
    let (float, endian) = match dtype {
        Dtype::Float(float, endian) => (float, endian),
        Dtype::Integer(kind, endian) => {
            for (out, bytes) in out.iter_mut().zip(bytes.chunks_exact(dtype.size())) {
                *out = whole(kind, endian, bytes) as f64;
            }
            return;
        }
    };
    match (float, endian) {
        (Float::F32, Endian::Little) => {
            for (out, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                *out = f64::from(f32::from_le_bytes(*bytes));
            }
        }
        (Float::F32, Endian::Big) => {
            for (out, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                *out = f64::from(f32::from_be_bytes(*bytes));
            }
        }
        (Float::F64, Endian::Little) => {
            for (out, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                *out = f64::from_le_bytes(*bytes);
            }
        }
        (Float::F64, Endian::Big) => {
            for (out, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                *out = f64::from_be_bytes(*bytes);
            }
        }
        (Float::F16 | Float::BF16, _) => {
            for (out, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                let bits = match endian {
                    Endian::Little => u16::from_le_bytes(*bytes),
                    Endian::Big => u16::from_be_bytes(*bytes),
                };
                *out = match float {
                    Float::BF16 => half::bf16::from_bits(bits).to_f64(),
                    _ => half::f16::from_bits(bits).to_f64(),
                };
            }
        }
    }
}
