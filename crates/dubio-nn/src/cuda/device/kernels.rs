//! The kernels, compiled for a kind of GPU.

use std::ffi::CString;

use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};

use crate::cuda::error::Error;
use crate::precision::Precision;

/// Source of the kernels, compiled for the GPU that is there when it is first used.
const SOURCE: &str = concat!(
    include_str!("../kernels/vectors.cu"),
    include_str!("../kernels/layers.cu"),
    include_str!("../kernels/losses.cu"),
    include_str!("../kernels/tensor_cores.cu"),
    include_str!("../kernels/products.cu")
);

const CONVOLUTIONS: &str =
    concat!(include_str!("../kernels/tensor_cores.cu"), include_str!("../kernels/convolutions.cu"));
const HOPPER: &str = include_str!("../kernels/hopper.cu");

/// The kernels for a kind of GPU, as text for the driver.
pub(in crate::cuda) fn compile(architecture: &str, precision: Precision) -> Result<CString, Error> {
    translated(SOURCE, architecture, vec![of_precision(precision)])
}

fn of_precision(precision: Precision) -> String {
    format!("--define-macro=PRECISION={}", precision as usize)
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

/// The part of a product of matrices that a block of threads works out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::cuda) struct Tile {
    pub rows: usize,
    pub columns: usize,
    /// Rows of a warp.
    pub warp_rows: usize,
    /// Columns of a warp.
    pub warp_columns: usize,
}

/// How a convolution's factors lie in memory and are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::cuda) enum Multiply {
    /// In single precision, copying `width` numbers at once, 4 or 1: on every GPU.
    Single { width: usize },
    /// In bfloat16, all taps of `block` channels one after the other: by the instructions of compute capability 9.0.
    Hopper { block: usize },
}

/// A convolution, compiled for a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::cuda) struct Program {
    pub role: Role,
    pub tile: Tile,
    pub by: Multiply,
}

/// Chunks in shared memory, and the depth of each, as in the source.
const STAGES: usize = 4;
pub(in crate::cuda) const DEPTH: usize = 16;
const HOPPER_STAGES: usize = 4;
pub(in crate::cuda) const HOPPER_DEPTH: usize = 64;

impl Program {
    /// What the kernel is called.
    pub(in crate::cuda) const ENTRY: &str = "convolution";

    /// Threads of a block.
    pub(super) fn threads(&self) -> usize {
        let Tile { rows, columns, warp_rows, warp_columns } = self.tile;
        32 * (rows / warp_rows) * (columns / warp_columns)
    }

    /// Bytes that a block shares: what it copies of both factors. Rows are a little longer than needed, so that a warp
    /// reads from all banks at once.
    pub(super) fn shared_bytes(&self) -> usize {
        let Tile { rows, columns, .. } = self.tile;
        if let Multiply::Hopper { .. } = self.by {
            // A row of the tile with its depth, or a row of the depth with 64 of the tile: 128 bytes.
            let (deep, wide) =
                (|side: usize| 128 * side, |side: usize| 128 * 64 * side.div_ceil(64));
            return HOPPER_STAGES
                * match self.role {
                    Role::Forward => deep(rows) + wide(columns),
                    Role::ToInputs => deep(rows) + deep(columns),
                    Role::ToWeights => wide(rows) + wide(columns),
                };
        }
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
        let define = |(name, value): (&str, usize)| format!("--define-macro={name}={value}");
        let mut options = [("ROWS", rows), ("COLUMNS", columns)].map(define).to_vec();
        match self.by {
            Multiply::Single { width } => {
                let back = usize::from(self.role == Role::ToInputs);
                let of_warp = [("WARP_ROWS", warp_rows), ("WARP_COLUMNS", warp_columns)];
                let others = [("WIDTH", width), ("BACK", back)];
                options.extend(of_warp.into_iter().chain(others).map(define));
                options.push(of_precision(precision));
                if self.role == Role::ToWeights {
                    options.push("--define-macro=TO_WEIGHTS".into());
                }
                translated(CONVOLUTIONS, architecture, options)
            }
            Multiply::Hopper { block } => {
                let role = self.role as usize;
                let own = [("BLOCK", block), ("STAGES", HOPPER_STAGES), ("ROLE", role)];
                options.extend(own.map(define));
                let source = format!("{}{HOPPER}", multiply_of(columns, self.role));
                // These instructions are of this generation alone: the next one does not have them.
                translated(&source, &format!("{architecture}a"), options)
            }
        }
    }
}

/// The instruction that adds a product of 64 rows, `columns` columns and 16 of the depth to the sums that the threads
/// of four warps hold: too many operands to write by hand. A factor counts as transposed if its depth does not run
/// fastest.
fn multiply_of(columns: usize, role: Role) -> String {
    let count = columns / 2;
    let list = |each: &dyn Fn(usize) -> String| {
        let all: Vec<String> = (0..count).map(each).collect();
        all.join(", ")
    };
    let (names, outputs) = (list(&|i| format!("%{i}")), list(&|i| format!("\"+f\"(c[{i}])")));
    let [a, b] = [role == Role::ToWeights, role != Role::ToInputs].map(usize::from);
    format!(
        "typedef unsigned int u32;\ntypedef unsigned long long u64;\n\
         __device__ __forceinline__ void multiply(float* c, u64 a, u64 b) {{\n\
         asm volatile(\"{{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.bf16.bf16 \
         {{{names}}}, %{count}, %{next}, p, 1, 1, {a}, {b}; }}\" : {outputs} : \"l\"(a), \"l\"(b));\n}}\n",
        next = count + 1,
    )
}
