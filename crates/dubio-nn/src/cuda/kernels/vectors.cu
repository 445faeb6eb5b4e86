// Operations on flat vectors, number by number; and sums with a fixed order.

typedef unsigned int u32;
typedef unsigned long long u64;

// For at most 2^31 numbers, so that indices have 32 bits: dividing longer ones costs more than moving the numbers.
#define EACH(i, n) for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < (u32)(n); i += gridDim.x * blockDim.x)

extern "C" __global__ void fill(float* v, float value, long long n) { EACH(i, n) v[i] = value; }
extern "C" __global__ void scale(float* v, float a, long long n) { EACH(i, n) v[i] *= a; }
extern "C" __global__ void combine(float* v, float a, float b, const float* x, long long n) {
    EACH(i, n) v[i] = a * v[i] + b * x[i];
}
extern "C" __global__ void descend(float* theta, float* velocity, const float* gradient, float decay, float momentum, float rate, long long n) {
    EACH(i, n) {
        float g = gradient[i] + decay * theta[i], v = momentum * velocity[i] + g;
        velocity[i] = v;
        theta[i] -= rate * v;
    }
}
extern "C" __global__ void add_product(float* v, float a, const float* x, const float* y, long long n) {
    EACH(i, n) v[i] += a * x[i] * y[i];
}
extern "C" __global__ void add_over_root(float* v, float a, const float* x, const float* y, float least, long long n) {
    EACH(i, n) v[i] += a * x[i] / (sqrtf(y[i]) + least);
}
extern "C" __global__ void add_times_root(float* v, float a, const float* x, const float* y, long long n) {
    EACH(i, n) v[i] += a * x[i] * sqrtf(fmaxf(y[i], 0.f));
}
extern "C" __global__ void add_quotient(float* v, float a, const float* x, const float* y, long long n) {
    EACH(i, n) v[i] += a * x[i] / y[i];
}
extern "C" __global__ void add_times_exp(float* v, float a, const float* x, const float* y, long long n) {
    EACH(i, n) v[i] += a * x[i] * expf(y[i]);
}

// The sum of a block's numbers in f64, in an order that depends on the block's size alone.
__device__ double block_sum(double value) {
    __shared__ double parts[32];
    for (int k = 16; k; k >>= 1) value += __shfl_xor_sync(~0u, value, k);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    double sum = 0;
    for (u32 w = 0; w < blockDim.x / 32; w++) sum += parts[w];
    __syncthreads();
    return sum;
}

// A part of sum x y for each block; the host adds the parts in their order.
extern "C" __global__ void dot(const float* x, const float* y, double* parts, long long n) {
    double sum = 0;
    EACH(i, n) sum += (double)x[i] * (double)y[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

// Numbers of matrices times a factor for their row and one for their column.
extern "C" __global__ void scale_sides(float* v, const float* x, const float* y, int rows, int columns, long long n) {
    EACH(i, n) v[i] *= x[i / columns % rows] * y[i % columns];
}
// to[k] += a sum over places and others j of g w other[j], a block for each k: consecutive k are `step` apart, j
// `other_step`, places `all`.
extern "C" __global__ void side_gradient(float* to, float a, const float* g, const float* w, const float* other, int step,
                                         int others, int other_step, int places, int all) {
    double sum = 0;
    for (u32 t = threadIdx.x; t < (u32)others * places; t += blockDim.x) {
        u32 j = t % others, i = t / others * all + blockIdx.x * step + j * other_step;
        sum += (double)g[i] * (double)w[i] * (double)other[j];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) to[blockIdx.x] += a * (float)sum;
}

// Shortens a vector to a length: the parts are those of its product with itself.
extern "C" __global__ void clip(float* v, const double* parts, int count, double length, long long n) {
    double square = 0;
    for (int k = 0; k < count; k++) square += parts[k];
    double own = sqrt(square);
    if (!(own > length)) return;
    float a = (float)(length / own);
    EACH(i, n) v[i] *= a;
}

// Two normal numbers from 64 random bits, by exactly the operations of the host: no fused ones.
__device__ float ln_of(float x) {
    u32 bits = __float_as_uint(x);
    int exponent = (int)(bits - 0x3f3504f3u) >> 23;
    float m = __uint_as_float(bits - (u32)(exponent << 23)) - 1.f;
    const float c[9] = {7.0376836e-2f, -1.151461e-1f, 1.1676999e-1f, -1.2420141e-1f, 1.4249323e-1f,
                        -1.6668058e-1f, 2.0000715e-1f, -2.4999994e-1f, 3.333333e-1f};
    float series = 0.f;
    for (int k = 0; k < 9; k++) series = __fadd_rn(__fmul_rn(series, m), c[k]);
    float square = __fmul_rn(m, m);
    float tail = __fsub_rn(__fmul_rn(__fmul_rn(square, m), series), __fmul_rn(0.5f, square));
    return __fadd_rn(__fadd_rn(m, tail), __fmul_rn((float)exponent, 0.693147180559945309f));
}
__device__ float2 normal_pair(u32 first, u32 second) {
    float uniform = __fmul_rn(__fadd_rn((float)(int)(first >> 1), 0.5f), 1.f / 2147483648.f);
    float radius = __fsqrt_rn(__fmul_rn(-2.f, ln_of(uniform)));
    float x = __fmul_rn((float)((int)second >> 3), 0.785398163397448310f / 268435456.f);
    float s = __fmul_rn(x, x);
    float t = __fadd_rn(-1.984127e-4f, __fmul_rn(s, 2.755732e-6f));
    t = __fadd_rn(8.333333e-3f, __fmul_rn(s, t));
    t = __fadd_rn(-1.6666666e-1f, __fmul_rn(s, t));
    float sine = __fadd_rn(x, __fmul_rn(__fmul_rn(x, s), t));
    t = __fadd_rn(-1.388889e-3f, __fmul_rn(s, 2.4801587e-5f));
    t = __fadd_rn(4.1666668e-2f, __fmul_rn(s, t));
    t = __fadd_rn(-0.5f, __fmul_rn(s, t));
    float cosine = __fadd_rn(1.f, __fmul_rn(s, t));
    float2 z = second & 1 ? make_float2(sine, cosine) : make_float2(cosine, sine);
    z.x = __uint_as_float(__float_as_uint(__fmul_rn(radius, z.x)) ^ ((second >> 1 & 1) << 31));
    z.y = __uint_as_float(__float_as_uint(__fmul_rn(radius, z.y)) ^ ((second >> 2 & 1) << 31));
    return z;
}
struct Lane { u32 a, b, c, d; };
// xoshiro128++.
__device__ u32 next_bits(Lane& g) {
    u32 sum = g.a + g.d, result = (sum << 7 | sum >> 25) + g.a, shifted = g.b << 9;
    g.c ^= g.a; g.d ^= g.b; g.b ^= g.c; g.a ^= g.d; g.c ^= shifted;
    g.d = g.d << 11 | g.d >> 21;
    return result;
}
// Numbers `lane` and `16 + lane` of every 32, from one of sixteen generators side by side.
__device__ void add_lane(float* v, float std, Lane g, int lane, int n) {
    for (int start = 0; start < n; start += 32) {
        u32 first = next_bits(g), second = next_bits(g);
        float2 z = normal_pair(first, second);
        int i = start + lane;
        if (i < n) v[i] = __fadd_rn(v[i], __fmul_rn(std, z.x));
        if (i + 16 < n) v[i + 16] = __fadd_rn(v[i + 16], __fmul_rn(std, z.y));
    }
}
// Sixteen threads for each piece of 4096 numbers, whose generators begin at these 64 words.
extern "C" __global__ void add_noise(float* v, float std, const u32* states, int pieces, long long n) {
    int piece = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
    if (piece >= pieces) return;
    const u32* s = states + piece * 64 + lane;
    Lane g = {s[0], s[16], s[32], s[48]};
    long long start = piece * 4096ll, left = n - start;
    add_lane(v + start, std, g, lane, (int)(left < 4096 ? left : 4096));
}
