//! What can go wrong with a GPU before and while it works, and what to do.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use cudarc::cublas::{result::CublasError, sys::cublasStatus_t as Status};
use cudarc::driver::{DriverError, sys::CUresult};

use crate::network::Network;

/// Why a GPU cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No driver.
    #[error(
        "the NVIDIA driver was not found (looked for libcuda.so); install NVIDIA's driver, or run on the CPU"
    )]
    NoDriver,
    /// A library is missing.
    #[error(
        "{what} was not found (looked for {looked_for}); install a CUDA toolkit and set CUDA_HOME, or the Python packages \
         nvidia-cublas and nvidia-cuda-nvrtc (nvidia-cublas-cu12 and nvidia-cuda-nvrtc-cu12 for a driver of CUDA 12), \
         or run on the CPU"
    )]
    Missing {
        /// Which.
        what: &'static str,
        /// Names and folders.
        looked_for: String,
    },
    /// A driver, but no GPU.
    #[error("the NVIDIA driver sees no GPU; run on the CPU")]
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
        "{name} has compute capability {major}.{minor}; dubio needs 8.0 or later (Ampere, 2020, or newer): run on the CPU"
    )]
    TooOld {
        /// What it is called.
        name: String,
        /// First part of its compute capability.
        major: i32,
        /// Second part.
        minor: i32,
    },
    /// A driver that is older than the functions that are called.
    #[error(
        "the NVIDIA driver is for CUDA {major}.{minor}; dubio needs one for CUDA 12 or later: update it, or run on the CPU"
    )]
    OldDriver {
        /// First part of the newest CUDA version that it knows.
        major: i32,
        /// Second part.
        minor: i32,
    },
    /// More numbers than kernels count.
    #[error(
        "a layer puts out {numbers} numbers for {examples} examples, and a GPU counts up to {MOST_NUMBERS}; use a batch of at most {most}"
    )]
    TooMany {
        /// Numbers of the largest layer.
        numbers: usize,
        /// Examples together.
        examples: usize,
        /// The most examples that there may be.
        most: usize,
    },
    /// The kernels do not compile.
    #[error("the GPU kernels could not be compiled: {0}")]
    Kernels(String),
    /// What the driver or cuBLAS said.
    #[error("{0}")]
    Failed(String),
}

/// The most numbers that a kernel can count: indices have 32 bits, in some kernels with a sign.
const MOST_NUMBERS: usize = i32::MAX as usize;

const OUT_OF_MEMORY: &str =
    "out of GPU memory; use a smaller batch or network, or wait for other programs to end";

impl Error {
    pub(super) fn driver(error: DriverError) -> Self {
        use CUresult as Code;
        let code = error.0;
        Self::Failed(match code {
            Code::CUDA_ERROR_NO_DEVICE => return Self::NoDevice,
            Code::CUDA_ERROR_OUT_OF_MEMORY => OUT_OF_MEMORY.into(),
            Code::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
            | Code::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
            | Code::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER => {
                "the NVIDIA driver is too old for the CUDA libraries; update the driver, or install older \
                 libraries"
                    .into()
            }
            Code::CUDA_ERROR_DEVICE_UNAVAILABLE => {
                "the GPU is in use by another program that does not share it".into()
            }
            Code::CUDA_ERROR_ECC_UNCORRECTABLE
            | Code::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | Code::CUDA_ERROR_HARDWARE_STACK_ERROR
            | Code::CUDA_ERROR_LAUNCH_TIMEOUT
            | Code::CUDA_ERROR_SYSTEM_NOT_READY
            | Code::CUDA_ERROR_DEINITIALIZED
            | Code::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | Code::CUDA_ERROR_MPS_RPC_FAILURE
            | Code::CUDA_ERROR_MPS_CLIENT_TERMINATED
            | Code::CUDA_ERROR_UNKNOWN => format!(
                "the GPU was lost ({code:?}); once nvidia-smi lists it again, give the same command: what has a \
                 checkpoint continues from it"
            ),
            _ => format!("the GPU failed ({code:?}); this is an error in dubio or in the driver: please report it"),
        })
    }

    pub(super) fn blas(error: CublasError) -> Self {
        Self::Failed(match error.0 {
            Status::CUBLAS_STATUS_ALLOC_FAILED => OUT_OF_MEMORY.into(),
            Status::CUBLAS_STATUS_NOT_INITIALIZED => {
                "cuBLAS did not start: the GPU's memory is full, or the NVIDIA driver is too old for this cuBLAS".into()
            }
            Status::CUBLAS_STATUS_ARCH_MISMATCH => {
                "cuBLAS does not know this GPU; install a newer one, of CUDA 12 or later".into()
            }
            code => format!("cuBLAS failed ({code:?}); this is an error in dubio or in the driver: please report it"),
        })
    }

    /// Checks that a driver has the functions that are called; `version` is 1000 times the first part plus 10 times the
    /// second.
    pub(super) fn check_driver(version: i32) -> Result<(), Self> {
        match (version / 1000, version % 1000 / 10) {
            (major, minor) if major < 12 => Err(Self::OldDriver { major, minor }),
            _ => Ok(()),
        }
    }
}

/// Checks that kernels can count what the layers of a network put out for this many examples together.
pub fn can_count(network: &Network, examples: usize) -> Result<(), Error> {
    let largest = network.nodes().iter().map(|node| node.output.size()).max().unwrap_or(0);
    let most = MOST_NUMBERS / largest.max(1);
    if examples <= most {
        return Ok(());
    }
    Err(Error::TooMany { numbers: largest.saturating_mul(examples), examples, most })
}

/// Does work that may be on a GPU. If the GPU fails in the middle of a step, or runs out of memory, there is nothing to
/// go on with: the work is given up, without a panic's message.
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
    use crate::networks;
    use crate::shape::Shape;

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

    #[test]
    fn what_the_driver_says_is_told_with_what_to_do() {
        let of = |code: CUresult| Error::driver(DriverError(code)).to_string();
        for (code, words) in [
            (CUresult::CUDA_ERROR_NO_DEVICE, "run on the CPU"),
            (CUresult::CUDA_ERROR_OUT_OF_MEMORY, "use a smaller batch"),
            (CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "update the driver"),
            (CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE, "in use by another program"),
            (CUresult::CUDA_ERROR_ECC_UNCORRECTABLE, "was lost (CUDA_ERROR_ECC_UNCORRECTABLE)"),
            (CUresult::CUDA_ERROR_ECC_UNCORRECTABLE, "continues from it"),
            (CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, "please report it"),
        ] {
            assert!(of(code).contains(words), "{code:?}: {}", of(code));
        }
        let blas = |status: Status| Error::blas(CublasError(status)).to_string();
        assert!(blas(Status::CUBLAS_STATUS_ALLOC_FAILED).contains("out of GPU memory"));
        assert!(blas(Status::CUBLAS_STATUS_NOT_INITIALIZED).contains("memory is full"));
        assert!(blas(Status::CUBLAS_STATUS_INTERNAL_ERROR).contains("INTERNAL_ERROR"));
    }

    #[test]
    fn a_driver_from_before_cuda_12_is_too_old() {
        let said = Error::check_driver(11_080).expect_err("too old").to_string();
        assert!(said.starts_with("the NVIDIA driver is for CUDA 11.8;"), "{said}");
        assert_eq!([12_000, 13_020].map(Error::check_driver), [Ok(()), Ok(())]);
    }

    #[test]
    fn a_batch_of_more_numbers_than_kernels_count_is_refused_with_the_largest_there_can_be() {
        let network = networks::build("lenet5", Shape::image(1, 28, 28), 10).expect("a network");
        let refused = |examples: usize| can_count(&network, examples).map_err(|e| e.to_string());
        let largest = 28 * 28 * 6; // of the first convolution
        let most = (1 << 31) / largest;
        assert_eq!(refused(most), Ok(()));
        let said = refused(most + 1).expect_err("too many");
        assert!(said.ends_with(&format!("use a batch of at most {most}")), "{said}");
    }
}
