//! Where networks are trained and run: `--device`.

use anyhow::Result;
use dubio_nn::Single;
use dubio_nn::cuda;

/// Where a network is at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// A GPU if there is one, otherwise the processor.
    Auto,
}

impl Device {
    /// The engine of the device; an error says what is missing.
    pub(crate) fn engine(self) -> Result<Single> {
        Ok(match self {
            Self::Cpu => Single::default(),
            Self::Cuda => Single::gpu(0)?,
            Self::Auto => match Single::gpu(0) {
                Err(cuda::Error::Missing { .. } | cuda::Error::NoDevice) => Single::default(),
                found => found?,
            },
        })
    }
}
