//! What can go wrong with a GPU before and while it works, and what to do.

use cudarc::cublas::result::CublasError;
use cudarc::driver::{DriverError, sys::CUresult};

/// Why a GPU cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No driver, or a library is missing.
    #[error("{what} was not found (looked for {looked_for}); {advice}")]
    Missing {
        /// Which.
        what: &'static str,
        /// Names and folders.
        looked_for: String,
        /// What to do.
        advice: &'static str,
    },
    /// A driver, but nothing that it drives.
    #[error("the NVIDIA driver sees no GPU; use --device cpu")]
    NoDevice,
    /// A number that no GPU has.
    #[error("there is no GPU {ordinal}: this machine has {count}")]
    NoSuchDevice {
        /// The number.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },
    /// A GPU without the instructions that the kernels use.
    #[error(
        "{name} has compute capability {major}.{minor}; dubio needs 8.0 or later (Ampere, 2020, or newer): use --device cpu"
    )]
    TooOld {
        /// What it is called.
        name: String,
        /// First part of its compute capability.
        major: i32,
        /// Second part.
        minor: i32,
    },
    /// The kernels do not compile.
    #[error("the GPU kernels could not be compiled: {0}")]
    Kernels(String),
    /// What the driver or cuBLAS said.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    pub(super) fn driver(error: DriverError) -> Self {
        if error.0 == CUresult::CUDA_ERROR_NO_DEVICE {
            return Self::NoDevice;
        }
        Self::Failed(match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                "out of GPU memory; use a smaller batch or network, or wait for other programs to end".into()
            }
            CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
            | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
                "the NVIDIA driver is too old for the CUDA libraries; update the driver, or install older \
                 libraries"
                    .into()
            }
            CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE => {
                "the GPU is in use by another program that does not share it".into()
            }
            _ => format!("the GPU failed: {error}"),
        })
    }

    pub(super) fn blas(error: CublasError) -> Self {
        Self::Failed(format!("cuBLAS failed: {error}"))
    }
}
