//! Matrix products by cuBLAS.

use std::ffi::c_void;

use cudarc::cublas::sys as blas;

use super::{Device, Place, lock};
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

/// How cuBLAS multiplies at a precision.
fn compute(precision: Precision) -> blas::cublasComputeType_t {
    match precision {
        Precision::F32 => blas::cublasComputeType_t::CUBLAS_COMPUTE_32F,
        Precision::Tf32 => blas::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
        Precision::Bf16 => blas::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_16BF,
    }
}

impl Device {
    /// `c = op(a) op(b) + beta c` of matrices whose rows lie one after the other: `[m, k]`, `[k, n]`, `[m, n]`.
    pub(in crate::cuda) fn product(
        &self,
        [m, n, k]: [usize; 3],
        a: Factor,
        b: Factor,
        beta: f32,
        c: Place,
    ) {
        if m == 0 || n == 0 || k == 0 {
            return;
        }
        let _own = self.bind();
        // cuBLAS stores columns one after the other: it sees these matrices transposed, and so is the product.
        let operation = |factor: Factor, rows: usize, columns: usize| match factor {
            Factor::Plain(place) => (blas::cublasOperation_t::CUBLAS_OP_N, place, columns),
            Factor::Transposed(place) => (blas::cublasOperation_t::CUBLAS_OP_T, place, rows),
        };
        let ((op_a, a, width_a), (op_b, b, width_b)) = (operation(a, m, k), operation(b, k, n));
        let (alpha, handle) = (1_f32, lock(&self.blas));
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
