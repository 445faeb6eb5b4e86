//! Where networks are trained and run, and how precisely a GPU multiplies.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::cuda;
use crate::single::Single;

/// Where a network is trained and run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// A GPU if there is one, otherwise the processor.
    Auto,
}

/// How precisely a GPU multiplies matrices. Everything else is in single precision, and so are all sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Single precision.
    #[default]
    F32,
    /// TensorFloat-32: factors are rounded to 10 bits of mantissa.
    Tf32,
    /// bfloat16: factors are rounded to 7 bits of mantissa.
    Bf16,
}

impl Device {
    /// Every name.
    pub const NAMES: [&str; 3] = ["cpu", "cuda", "auto"];

    /// The processor or a GPU, whichever is meant on this machine.
    pub fn found(self) -> Result<Self, cuda::Error> {
        Ok(match self {
            Self::Auto => match cuda::look() {
                Err(cuda::Error::Missing { .. } | cuda::Error::NoDevice) => Self::Cpu,
                found => found.map(|()| Self::Cuda)?,
            },
            known => known,
        })
    }

    /// The engine of the device; an error says what is missing. A processor has one precision.
    pub fn engine(self, precision: Precision) -> Result<Single, cuda::Error> {
        Ok(match self.found()? {
            Self::Cuda => Single::gpu(precision)?,
            _ => Single::default(),
        })
    }
}

impl Precision {
    /// Every name.
    pub const NAMES: [&str; 3] = ["f32", "tf32", "bf16"];
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

impl FromStr for Device {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = [Self::Cpu, Self::Cuda, Self::Auto];
        named(&all, name)
            .ok_or_else(|| format!("no device is called `{name}`; use cpu, cuda or auto"))
    }
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = [Self::F32, Self::Tf32, Self::Bf16];
        named(&all, name)
            .ok_or_else(|| format!("no precision is called `{name}`; use f32, tf32 or bf16"))
    }
}

fn named<T: Copy + ToString>(all: &[T], name: &str) -> Option<T> {
    all.iter().copied().find(|one| one.to_string().eq_ignore_ascii_case(name))
}
