// CUDA's language, as far as our kernels use it, for a processor's compiler. `compile.py` puts calls in place of PTX.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "threads.h"

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static // one block runs at a time
#define threadIdx emulated.threadIdx
#define blockIdx emulated.blockIdx
#define blockDim emulated.blockDim
#define gridDim emulated.gridDim

struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

template <class A, class B> inline auto min(A a, B b) { return a < b ? a : b; }
template <class A, class B> inline auto max(A a, B b) { return a > b ? a : b; }

template <class To, class From> inline To bits_as(From from) { To to; static_assert(sizeof to == sizeof from); memcpy(&to, &from, sizeof to); return to; }
inline unsigned __float_as_uint(float x) { return bits_as<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return bits_as<float>(x); }
// Products and sums are not fused: the compiler is told so.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }

inline void __syncthreads() { emulated_meet(BLOCK, nullptr, nullptr); }
inline size_t __cvta_generic_to_shared(const void* at) { return (const char*)at - emulated.shared; }

template <class T> T __shfl_xor_sync(unsigned mask, T value, int by) {
    if (mask != ~0u) emulated_fail("only whole warps exchange numbers");
    struct Own { T value, got; int by; } own = {value, value, by};
    emulated_meet(WARP, &own, [](void* const* all) {
        for (int i = 0; i < 32; i++) { Own* one = (Own*)all[i]; one->got = ((const Own*)all[i ^ one->by])->value; }
    });
    return own.got;
}

inline void ptx_tf32(unsigned& to, float x) { to = (bits_as<unsigned>(x) + 0x1000) & ~0x1fffu; }
inline unsigned bf16_bits(float x) { unsigned bits = bits_as<unsigned>(x); return x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16; }
inline void ptx_two_bf16(unsigned& to, float high, float low) { to = bf16_bits(high) << 16 | bf16_bits(low); }

// c += a b of 16 rows, 8 columns and a depth of 8 or 16, of which each thread of a warp has a part.
#define MULTIPLIES(name, act) \
    inline void name(float& c0, float& c1, float& c2, float& c3, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) { \
        Fragments own = {{&c0, &c1, &c2, &c3}, {a0, a1, a2, a3}, {b0, b1}}; \
        emulated_meet(WARP, &own, act); \
    }
MULTIPLIES(ptx_mma_tf32, emulated_multiply_tf32)
MULTIPLIES(ptx_mma_bf16, emulated_multiply_bf16)

// How a kernel is called with pointers to its arguments.
template <class... A, size_t... I> void call_with(void (*kernel)(A...), void** arguments, std::index_sequence<I...>) {
    kernel(*(std::remove_const_t<A>*)arguments[I]...);
}
template <class... A> void call_kernel(void (*kernel)(A...), void** arguments) { call_with(kernel, arguments, std::index_sequence_for<A...>()); }
template <class... A> constexpr int arguments_of(void (*)(A...)) { return sizeof...(A); }
