//! The kernels, compiled for a kind of GPU.

use std::ffi::CString;

use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};

use crate::cuda::error::Error;
use crate::precision::Precision;

/// Source of the kernels, compiled for the GPU that is there when it is first used.
const SOURCE: &str = concat!(
    include_str!("../kernels/vectors.cu"),
    include_str!("../kernels/layers.cu"),
    include_str!("../kernels/losses.cu")
);

const CONVOLUTIONS: &str = include_str!("../kernels/convolutions.cu");

/// The kernels for a kind of GPU, as text for the driver.
pub(in crate::cuda) fn compile(architecture: &str) -> Result<CString, Error> {
    translated(SOURCE, architecture, Vec::new())
}

fn translated(source: &str, architecture: &str, more: Vec<String>) -> Result<CString, Error> {
    let mut options = vec![format!("--gpu-architecture={architecture}"), "--std=c++17".into()];
    options.extend(more);
    match compile_ptx_with_opts(source, CompileOptions { options, ..CompileOptions::default() }) {
        Ok(ptx) => Ok(CString::new(ptx.to_src()).expect("text of kernels has no zeros")),
        Err(CompileError::CompileError { log, .. }) => {
            Err(Error::Kernels(log.to_string_lossy().into_owned()))
        }
        Err(error) => Err(Error::Kernels(format!("{error:?}"))),
    }
}

/// What a convolution works out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::cuda) enum Role {
    /// What goes out.
    Forward,
    /// The gradient of what came in.
    ToInputs,
    /// The gradient of the weights.
    ToWeights,
}

/// What a block of threads has of a product of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::cuda) struct Tile {
    pub rows: usize,
    pub columns: usize,
    /// Rows of a warp.
    pub warp_rows: usize,
    /// Columns of a warp.
    pub warp_columns: usize,
}

/// A convolution, compiled for a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::cuda) struct Program {
    pub role: Role,
    pub tile: Tile,
    /// Numbers of a copy, 4 or 1.
    pub width: usize,
}

/// Chunks that are copied ahead, and the depth of each, as in the source.
const STAGES: usize = 4;
pub(in crate::cuda) const DEPTH: usize = 16;

impl Program {
    /// What the kernel is called.
    pub(in crate::cuda) const ENTRY: &str = "convolution";

    /// Threads of a block.
    pub(super) fn threads(&self) -> usize {
        let Tile { rows, columns, warp_rows, warp_columns } = self.tile;
        32 * (rows / warp_rows) * (columns / warp_columns)
    }

    /// Bytes that a block shares: what it copies of both factors. Rows are a little longer than they need be, so that a
    /// warp reads from all banks at once.
    pub(super) fn shared_bytes(&self) -> usize {
        let Tile { rows, columns, .. } = self.tile;
        let numbers = match self.role {
            Role::Forward => rows * (DEPTH + 4) + DEPTH * (columns + 8),
            Role::ToInputs => (rows + columns) * (DEPTH + 4),
            Role::ToWeights => DEPTH * (rows + 8 + columns + 8),
        };
        4 * STAGES * numbers
    }

    /// The program for a kind of GPU, as text for the driver.
    pub(in crate::cuda) fn compile(
        &self,
        architecture: &str,
        precision: Precision,
    ) -> Result<CString, Error> {
        let Tile { rows, columns, warp_rows, warp_columns } = self.tile;
        let mut options: Vec<String> = [
            ("PRECISION", precision as usize),
            ("ROWS", rows),
            ("COLUMNS", columns),
            ("WARP_ROWS", warp_rows),
            ("WARP_COLUMNS", warp_columns),
            ("WIDTH", self.width),
            ("BACK", usize::from(self.role == Role::ToInputs)),
        ]
        .map(|(name, value)| format!("--define-macro={name}={value}"))
        .into();
        if self.role == Role::ToWeights {
            options.push("--define-macro=TO_WEIGHTS".into());
        }
        translated(CONVOLUTIONS, architecture, options)
    }
}
