//! Products of matrices: small ones by a kernel of our own, others by cuBLAS.

use std::ffi::c_void;
use std::ops::RangeInclusive;

use cudarc::cublas::sys as blas;

use super::{Arg, Device, Place, lock};
use crate::cuda::error::Error;
use crate::precision::Precision;

/// A factor of a product of matrices.
#[derive(Clone, Copy)]
pub(in crate::cuda) enum Factor {
    /// It lies there as it is.
    Plain(Place),
    /// Its transpose lies there.
    Transposed(Place),
}

impl Factor {
    /// Where it lies, and how many of its numbers lie one after the other: a row, or a column of the transposed one.
    fn lies(self, rows: usize, columns: usize) -> (Place, usize) {
        match self {
            Self::Plain(place) => (place, columns),
            Self::Transposed(place) => (place, rows),
        }
    }
}

/// What is added to each row of a product, and the function whose values are also wanted: its number and where they go.
#[derive(Clone, Copy)]
pub(in crate::cuda) struct Then {
    pub biases: Place,
    pub activation: Option<(Arg, Place)>,
}

/// Rows and columns of the tile of a product that a block of threads works out.
const SIDE: usize = 32;
/// What a warp takes of the depth at a time.
const CHUNK: usize = 16;
/// Warps of a block: one for each chunk, but enough to write the tile and no more than share memory.
const WARPS: RangeInclusive<usize> = 4..=8;
/// Tiles of a small product: with many more, cuBLAS, whose tiles are larger, reads less.
const FEW_TILES: usize = 256;
/// Depth of a small product, at most: tensor cores round sums down, by 1e-4 in all at a depth of 70,000, and cuBLAS can
/// cut a deep product among more threads.
const MOST_DEPTH: usize = 4096;

/// How cuBLAS multiplies at a precision.
fn compute(precision: Precision) -> blas::cublasComputeType_t {
    match precision {
        Precision::F32 => blas::cublasComputeType_t::CUBLAS_COMPUTE_32F,
        Precision::Tf32 => blas::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
        Precision::Bf16 => blas::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_16BF,
    }
}

impl Device {
    /// `c = op(a) op(b)` of matrices whose rows lie one after the other: `[m, k]`, `[k, n]`, `[m, n]`.
    pub(in crate::cuda) fn product(&self, sides: [usize; 3], a: Factor, b: Factor, c: Place) {
        match self.small_product(sides, a, b) {
            Some(name) => self.multiply(name, sides, [a, b], c, None),
            None => self.by_cublas(sides, a, b, c),
        }
    }

    /// The same plus biases, and an activation of that.
    pub(in crate::cuda) fn product_then(
        &self,
        sides: [usize; 3],
        a: Factor,
        b: Factor,
        c: Place,
        then: Then,
    ) {
        if let Some(name) = self.small_product(sides, a, b) {
            return self.multiply(name, sides, [a, b], c, Some(then));
        }
        self.by_cublas(sides, a, b, c);
        let [rows, columns, _] = sides;
        let [biases, own, width] = [then.biases.into(), c.into(), (columns as i32).into()];
        match then.activation {
            None => self.each("add_bias", rows * columns, &[own, biases, width]),
            Some((kind, to)) => {
                let arguments = [kind, own, biases, to.into(), width];
                self.each("add_bias_activate", rows * columns, &arguments);
            }
        }
    }

    /// The kernel for a product of few tiles, if there is one: it multiplies in single precision or TF32.
    fn small_product(&self, [m, n, k]: [usize; 3], a: Factor, b: Factor) -> Option<&'static str> {
        let is_small = m.div_ceil(SIDE) * n.div_ceil(SIDE) <= FEW_TILES && k <= MOST_DEPTH;
        let name = match (a, b) {
            (Factor::Plain(_), Factor::Plain(_)) => "product",
            (Factor::Plain(_), Factor::Transposed(_)) => "product_right_transposed",
            (Factor::Transposed(_), Factor::Plain(_)) => "product_left_transposed",
            (Factor::Transposed(_), Factor::Transposed(_)) => return None,
        };
        (is_small && self.gpu.precision != Precision::Bf16).then_some(name)
    }

    fn multiply(
        &self,
        name: &'static str,
        [m, n, k]: [usize; 3],
        [a, b]: [Factor; 2],
        c: Place,
        then: Option<Then>,
    ) {
        if m == 0 || n == 0 {
            return;
        }
        let (a, b) = (a.lies(m, k), b.lies(k, n));
        let by_fours =
            |(place, width): (Place, usize)| place.is_aligned() && width.is_multiple_of(4);
        let fours = i32::from(by_fours(a)) + 2 * i32::from(by_fours(b));
        let nothing = (Arg::from(-1_i32), Place::NOWHERE);
        let (kind, to) = then.and_then(|then| then.activation).unwrap_or(nothing);
        let biases = then.map_or(Place::NOWHERE, |then| then.biases);
        let [rows, columns, depth, fours] = [m as i32, n as i32, k as i32, fours].map(Arg::from);
        let [a, b, c, biases, to] = [a.0, b.0, c, biases, to].map(Arg::from);
        let arguments = [a, b, c, biases, kind, to, rows, columns, depth, fours];
        let warps = (k / CHUNK).clamp(*WARPS.start(), *WARPS.end());
        let bytes = warps * SIDE * (SIDE + 8) * size_of::<f32>();
        let blocks = [n.div_ceil(SIDE), m.div_ceil(SIDE), 1];
        let _own = self.bind();
        self.start(self.function(name), blocks, (32 * warps as u32, 1), bytes, &arguments);
    }

    fn by_cublas(&self, [m, n, k]: [usize; 3], a: Factor, b: Factor, c: Place) {
        if m == 0 || n == 0 || k == 0 {
            return;
        }
        let _own = self.bind();
        // cuBLAS stores columns one after the other: it sees these matrices transposed, and so is the product.
        let operation = |factor: Factor| match factor {
            Factor::Plain(_) => blas::cublasOperation_t::CUBLAS_OP_N,
            Factor::Transposed(_) => blas::cublasOperation_t::CUBLAS_OP_T,
        };
        let (op_a, op_b) = (operation(a), operation(b));
        let ((a, width_a), (b, width_b)) = (a.lies(m, k), b.lies(k, n));
        let (alpha, beta, handle) = (1_f32, 0_f32, lock(&self.blas));
        let [m, n, k] = [m, n, k].map(|side| side as i32);
        // SAFETY: places hold as many numbers as the sides say; the handle is held alone.
        let status = unsafe {
            blas::cublasGemmEx(
                *handle,
                op_b,
                op_a,
                n,
                m,
                k,
                (&raw const alpha).cast(),
                b.0 as *const c_void,
                blas::cudaDataType_t::CUDA_R_32F,
                width_b as i32,
                a.0 as *const c_void,
                blas::cudaDataType_t::CUDA_R_32F,
                width_a as i32,
                (&raw const beta).cast(),
                c.0 as *mut c_void,
                blas::cudaDataType_t::CUDA_R_32F,
                n,
                compute(self.gpu.precision),
                blas::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        };
        self.expect(status.result().map_err(Error::blas));
    }
}
