//! The kernels, compiled for a kind of GPU.

use std::ffi::CString;

use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};

use crate::cuda::error::Error;

/// Source of the kernels, compiled for the GPU that is there when it is first used.
const SOURCE: &str = concat!(
    include_str!("../kernels/vectors.cu"),
    include_str!("../kernels/layers.cu"),
    include_str!("../kernels/losses.cu")
);

/// The kernels for a kind of GPU, as text for the driver.
pub(in crate::cuda) fn compile(architecture: &str) -> Result<CString, Error> {
    let options = vec![format!("--gpu-architecture={architecture}")];
    match compile_ptx_with_opts(SOURCE, CompileOptions { options, ..CompileOptions::default() }) {
        Ok(ptx) => Ok(CString::new(ptx.to_src()).expect("text of kernels has no zeros")),
        Err(CompileError::CompileError { log, .. }) => {
            Err(Error::Kernels(log.to_string_lossy().into_owned()))
        }
        Err(error) => Err(Error::Kernels(format!("{error:?}"))),
    }
}
