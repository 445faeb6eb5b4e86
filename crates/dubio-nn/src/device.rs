//! Where networks are trained and run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::cuda;
use crate::precision::Precision;
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

impl Device {
    /// Every name.
    pub const NAMES: [&str; 3] = ["cpu", "cuda", "auto"];

    /// The processor or a GPU, whichever is meant on this machine.
    pub fn found(self) -> Result<Self, cuda::Error> {
        use cuda::Error::{Missing, NoDevice, NoDriver, OldDriver, TooOld};
        Ok(match self {
            Self::Auto => match cuda::look() {
                Err(NoDriver | NoDevice | Missing { .. } | OldDriver { .. } | TooOld { .. }) => {
                    Self::Cpu
                }
                found => found.map(|()| Self::Cuda)?,
            },
            known => known,
        })
    }

    /// Why `auto` means the processor on a machine with NVIDIA's driver, where a GPU may be expected.
    pub fn passed_over(self) -> Option<cuda::Error> {
        let why = (self == Self::Auto).then(cuda::look)?.err()?;
        (!matches!(why, cuda::Error::NoDriver | cuda::Error::NoDevice)).then_some(why)
    }

    /// The engine of the device; an error says what is missing. A processor has one precision.
    pub fn engine(self, precision: Precision) -> Result<Single, cuda::Error> {
        Ok(match self.found()? {
            Self::Cuda => Single::gpu(precision)?,
            _ => Single::default(),
        })
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

impl FromStr for Device {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = [Self::Cpu, Self::Cuda, Self::Auto];
        let found = all.into_iter().find(|one| one.to_string().eq_ignore_ascii_case(name));
        found.ok_or_else(|| format!("no device is called `{name}`; use cpu, cuda or auto"))
    }
}
