// Products of 16 x 8 x 8 on the tensor cores. Compiled with
//   PRECISION 0: each f32 as the sum of two TF32, so about the accuracy of f32; 1: TF32; 2: bfloat16
typedef unsigned int u32;

__device__ __forceinline__ u32 tf32(float x) { u32 r; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x)); return r; }
// The upper part of a number as TF32, and the rest, of which the tensor cores drop the last bits: 2^-21 of the number.
__device__ __forceinline__ u32 high_tf32(float x) { return PRECISION == 0 ? __float_as_uint(x) & 0xffffe000u : tf32(x); }
__device__ __forceinline__ u32 low_tf32(float x, u32 high) { return __float_as_uint(x - __uint_as_float(high)); }
__device__ __forceinline__ void multiply_tf32(float* c, const u32* a, const u32* b) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
