//! What can go wrong with a GPU before and while it works, and what to do.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

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

/// Does work that may be on a GPU. A GPU that fails in the middle of a step, or runs out of memory, leaves nothing to go on with:
/// the work is given up, without a panic's message.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Error> {
    // Nothing that the work was changing is looked at after it was given up.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast::<Error>() {
        Ok(error) => *error,
        Err(panic) => resume_unwind(panic),
    })
}

/// Gives up the work that [`guarded`] began.
pub(super) fn give_up(gpu: &str, error: &Error) -> ! {
    resume_unwind(Box::new(Error::Failed(format!("{gpu}: {error}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_that_fails_is_told_by_its_name_and_other_panics_go_on() {
        let lost = DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        let given_up = guarded(|| -> () { give_up("NVIDIA H200", &Error::driver(lost)) });
        let said = given_up.expect_err("it failed").to_string();
        assert!(said.starts_with("NVIDIA H200: out of GPU memory"), "{said}");
        assert_eq!(guarded(|| 7), Ok(7));
        let other = catch_unwind(|| guarded(|| resume_unwind(Box::new(3_u8))));
        assert_eq!(other.expect_err("goes on").downcast_ref(), Some(&3_u8));
    }
}
