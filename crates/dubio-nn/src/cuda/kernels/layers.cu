// Layers. Activations lie example after example, each [height, width, channels].

__device__ u64 splitmix(u64 state) {
    u64 z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}
#define GAMMA 0x9e3779b97f4a7c15ull
// The state at which the generator of the mask of an example begins.
__device__ u64 start_of(u64 family, u64 mask) { return splitmix((family ^ mask) + GAMMA); }

extern "C" __global__ void add_bias(float* y, const float* bias, int channels, long long n) {
    EACH(i, n) y[i] += bias[i % (u32)channels];
}
extern "C" __global__ void add_two(const float* a, const float* b, float* y, long long n) { EACH(i, n) y[i] = a[i] + b[i]; }

// Columns of one matrix into columns of another.
extern "C" __global__ void copy_columns(const float* x, int width, int from, float* y, int width_out, int to, int columns, long long n) {
    EACH(i, n) { u32 row = i / (u32)columns, c = i % (u32)columns; y[(long long)row * width_out + to + c] = x[(long long)row * width + from + c]; }
}

enum { NOTHING = -1, RELU, ELU, SWISH, SQUARE };
__device__ __forceinline__ float activated(int kind, float v) {
    return kind == NOTHING ? v : kind == RELU ? fmaxf(v, 0.f) : kind == ELU ? (v > 0 ? v : expm1f(v)) : kind == SQUARE ? v * v : v / (1.f + expf(-v));
}
__device__ __forceinline__ float slope(int kind, float v) {
    if (kind == NOTHING) return 1.f;
    if (kind == RELU) return v > 0 ? 1.f : 0.f;
    if (kind == ELU) return v > 0 ? 1.f : expf(v);
    if (kind == SQUARE) return 2.f * v;
    float s = 1.f / (1.f + expf(-v));
    return s + v * s * (1.f - s);
}
extern "C" __global__ void activate(int kind, const float* x, float* y, long long n) {
    EACH(i, n) y[i] = activated(kind, x[i]);
}
extern "C" __global__ void add_bias_activate(int kind, float* x, const float* bias, float* y, int channels, long long n) {
    EACH(i, n) {
        float v = x[i] + bias[i % (u32)channels];
        x[i] = v;
        y[i] = activated(kind, v);
    }
}
extern "C" __global__ void activate_back(int kind, const float* x, const float* g, float* dx, long long n) {
    EACH(i, n) dx[i] = g[i] * slope(kind, x[i]);
}
// The same for a matrix [rows, channels], and the sums of its columns. A block has 32 channels and 32 rows at a time.
extern "C" __global__ void activate_back_sums(int kind, const float* x, const float* g, float* dx, float* sums, int rows, int channels) {
    __shared__ float parts[32][33];
    int lane = threadIdx.x, slot = threadIdx.y, c = blockIdx.x * 32 + lane;
    float sum = 0;
    if (c < channels)
        #pragma unroll 4
        for (int r = slot; r < rows; r += 32) {
            int i = r * channels + c;
            float v = g[i] * slope(kind, x[i]);
            dx[i] = v;
            sum += v;
        }
    parts[slot][lane] = sum;
    __syncthreads();
    sum = parts[lane][slot]; // now `slot` is the channel
    for (int k = 16; k; k >>= 1) sum += __shfl_xor_sync(~0u, sum, k);
    if (lane == 0 && blockIdx.x * 32 + slot < channels) sums[blockIdx.x * 32 + slot] = sum;
}

// The sums of the parts of a gradient, in a fixed order.
extern "C" __global__ void add_parts(const float* parts, float* sums, int count, int numbers) {
    __shared__ float sh[8][33];
    int i = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    if (i < numbers)
        #pragma unroll 8
        for (int k = threadIdx.y; k < count; k += 8) sum += parts[(long long)k * numbers + i];
    sh[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && i < numbers) {
        for (int k = 1; k < 8; k++) sum += sh[k][threadIdx.x];
        sums[i] = sum;
    }
}

// The same for many numbers with few parts, four at a time.
extern "C" __global__ void add_parts_by_fours(const float4* parts, float* sums, int count, long long fours) {
    EACH(i, fours) {
        float4 sum = parts[i];
        #pragma unroll 4
        for (int k = 1; k < count; k++) {
            float4 v = parts[k * fours + i];
            sum.x += v.x; sum.y += v.y; sum.z += v.z; sum.w += v.w;
        }
        float* to = sums + 4ll * i;
        to[0] = sum.x; to[1] = sum.y; to[2] = sum.z; to[3] = sum.w;
    }
}

// Eight numbers at a time as bfloat16, rounded to the nearest.
__device__ __forceinline__ u32 two_bf16(float low, float high) { u32 r; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low)); return r; }
__device__ __forceinline__ float low_of(u32 two) { return __uint_as_float(two << 16); }
__device__ __forceinline__ float high_of(u32 two) { return __uint_as_float(two & 0xffff0000u); }
extern "C" __global__ void to_bf16(const float* x, uint4* y, long long eights) {
    bool aligned = (u64)x % 16 == 0;
    EACH(i, eights) {
        float4 a, b;
        if (aligned) { a = ((const float4*)x)[2 * i]; b = ((const float4*)x)[2 * i + 1]; }
        else { const float* v = x + 8ll * i; a = make_float4(v[0], v[1], v[2], v[3]); b = make_float4(v[4], v[5], v[6], v[7]); }
        y[i] = make_uint4(two_bf16(a.x, a.y), two_bf16(a.z, a.w), two_bf16(b.x, b.y), two_bf16(b.z, b.w));
    }
}
// Eight neighbours of an array of f32 or, where it is halved, of bfloat16.
struct Eight {
    float v[8];
    __device__ __forceinline__ Eight(const void* x, bool halved, long long i) {
        if (halved) {
            uint4 n = ((const uint4*)x)[i];
            v[0] = low_of(n.x); v[1] = high_of(n.x); v[2] = low_of(n.y); v[3] = high_of(n.y);
            v[4] = low_of(n.z); v[5] = high_of(n.z); v[6] = low_of(n.w); v[7] = high_of(n.w);
        } else {
            float4 a = ((const float4*)x)[2 * i], b = ((const float4*)x)[2 * i + 1];
            v[0] = a.x; v[1] = a.y; v[2] = a.z; v[3] = a.w; v[4] = b.x; v[5] = b.y; v[6] = b.z; v[7] = b.w;
        }
    }
    __device__ __forceinline__ void put(void* y, bool halved, long long i) const {
        if (halved) ((uint4*)y)[i] = make_uint4(two_bf16(v[0], v[1]), two_bf16(v[2], v[3]), two_bf16(v[4], v[5]), two_bf16(v[6], v[7]));
        else {
            ((float4*)y)[2 * i] = make_float4(v[0], v[1], v[2], v[3]);
            ((float4*)y)[2 * i + 1] = make_float4(v[4], v[5], v[6], v[7]);
        }
    }
};
__device__ __forceinline__ float one_of(const void* x, bool halved, long long i) {
    return halved ? __uint_as_float((u32)((const unsigned short*)x)[i] << 16) : ((const float*)x)[i];
}

// Random features: y = scale cos(y + phase), and the slope of that.
extern "C" __global__ void waves(float* y, const float* phases, float* slopes, float scale, int features, long long n) {
    EACH(i, n) {
        float s, c;
        sincosf(y[i] + phases[i % (u32)features], &s, &c);
        y[i] = scale * c;
        slopes[i] = -scale * s;
    }
}

extern "C" __global__ void max_pool(const float* x, float* y, int* which, int H, int W, int C, int OH, int OW, int K, int stride, int pad, long long n) {
    EACH(i, n) {
        u32 t = i;
        int c = t % (u32)C; t /= (u32)C;
        int ox = t % (u32)OW; t /= (u32)OW;
        int oy = t % (u32)OH; t /= (u32)OH;
        float best = 0; int at = -1;
        for (int ky = 0; ky < K; ky++) for (int kx = 0; kx < K; kx++) {
            int yy = oy * stride + ky - pad, xx = ox * stride + kx - pad;
            if (yy < 0 || yy >= H || xx < 0 || xx >= W) continue;
            float v = x[((t * H + yy) * W + xx) * C + c];
            if (at < 0 || v > best || v != v) { best = v; at = yy * W + xx; }
        }
        y[i] = best; which[i] = at;
    }
}
extern "C" __global__ void max_pool_back(const float* g, const int* which, float* dx, int H, int W, int C, int OH, int OW, int K, int stride, int pad, long long n) {
    EACH(i, n) {
        u32 t = i;
        int c = t % (u32)C; t /= (u32)C;
        int x = t % (u32)W; t /= (u32)W;
        int y = t % (u32)H; t /= (u32)H;
        int oy0 = (y + pad - K + stride) / stride, ox0 = (x + pad - K + stride) / stride;
        float sum = 0;
        for (int oy = oy0 < 0 ? 0 : oy0; oy < OH && oy * stride - pad <= y; oy++)
            for (int ox = ox0 < 0 ? 0 : ox0; ox < OW && ox * stride - pad <= x; ox++) {
                long long o = ((t * OH + oy) * OW + ox) * C + c;
                if (which[o] == y * W + x) sum += g[o];
            }
        dx[i] = sum;
    }
}
extern "C" __global__ void average_pool(const float* x, float* y, int H, int W, int C, int OH, int OW, int rows, int columns, long long n) {
    EACH(i, n) {
        u32 t = i;
        int c = t % (u32)C; t /= (u32)C;
        int ox = t % (u32)OW; t /= (u32)OW;
        int oy = t % (u32)OH; t /= (u32)OH;
        float sum = 0;
        for (int r = 0; r < rows; r++) for (int k = 0; k < columns; k++)
            sum += x[((t * H + oy * rows + r) * W + ox * columns + k) * C + c];
        y[i] = sum * (1.f / (rows * columns));
    }
}
extern "C" __global__ void average_pool_back(const float* g, float* dx, int H, int W, int C, int OH, int OW, int rows, int columns, long long n) {
    EACH(i, n) {
        u32 t = i;
        int c = t % (u32)C; t /= (u32)C;
        int x = t % (u32)W; t /= (u32)W;
        int y = t % (u32)H; t /= (u32)H;
        int oy = y / rows, ox = x / columns;
        dx[i] = oy < OH && ox < OW ? g[((t * OH + oy) * OW + ox) * C + c] * (1.f / (rows * columns)) : 0.f;
    }
}
extern "C" __global__ void padded_shortcut(const float* x, float* y, int H, int W, int C, int OH, int OW, int CO, long long n) {
    int before = (CO - C) / 2;
    EACH(i, n) {
        u32 t = i;
        int c = (int)(t % (u32)CO) - before; t /= (u32)CO;
        int ox = t % (u32)OW; t /= (u32)OW;
        int oy = t % (u32)OH; t /= (u32)OH;
        y[i] = c >= 0 && c < C ? x[((t * H + 2 * oy) * W + 2 * ox) * C + c] : 0.f;
    }
}
extern "C" __global__ void padded_shortcut_back(const float* g, float* dx, int H, int W, int C, int OH, int OW, int CO, long long n) {
    int before = (CO - C) / 2;
    EACH(i, n) {
        u32 t = i;
        int c = t % (u32)C; t /= (u32)C;
        int x = t % (u32)W; t /= (u32)W;
        int y = t % (u32)H; t /= (u32)H;
        dx[i] = y % 2 == 0 && x % 2 == 0 ? g[((t * OH + y / 2) * OW + x / 2) * CO + before + c] : 0.f;
    }
}

// Sums over rows of two functions of a matrix [rows, channels]: a part for each chunk of rows, then their sum.
//   PLAIN: x, nothing. SPREAD: x - s and its square, s the first row. BACK: h, h (x - mean) scale, where h is g times the
//   slope of the activation that follows.
enum { PLAIN, SPREAD, BACK };
// A block has one chunk of rows (there may be millions of chunks) and `lanes` channels, a power of two up to 32: 256 /
// lanes rows at a time.
extern "C" __global__ void column_parts(int what, int kind, const float* x, const float* g, const float* saved, const float* weight, float* parts, float* sums, int rows, int channels, int chunk, int lanes) {
    __shared__ float one[256], two[256];
    int t = threadIdx.x, slots = 256 / lanes, slot = t / lanes, c = blockIdx.y * lanes + t % lanes, first = blockIdx.x * chunk, end = min(rows, first + chunk);
    float a = 0, b = 0;
    if (c < channels) {
        float shift = what == SPREAD ? x[c] : what == BACK ? saved[c] : 0.f, scale = what == BACK ? saved[channels + c] : 0.f;
        float w = kind >= 0 ? weight[c] : 0.f, bias = kind >= 0 ? weight[channels + c] : 0.f;
        #pragma unroll 4
        for (int r = first + slot; r < end; r += slots) {
            float v = x[(long long)r * channels + c];
            if (what == PLAIN) a += v;
            else if (what == SPREAD) { v -= shift; a += v; b += v * v; }
            else {
                float h = g[(long long)r * channels + c], normal = (v - shift) * scale;
                if (kind >= 0) h *= slope(kind, normal * w + bias);
                a += h; b += h * normal;
            }
        }
    }
    one[t] = a; two[t] = b;
    __syncthreads();
    if (slot == 0 && c < channels) {
        for (int k = 1; k < slots; k++) { a += one[k * lanes + t]; b += two[k * lanes + t]; }
        if (sums) { sums[c] = a; return; } // one chunk
        parts[(long long)blockIdx.x * 2 * channels + c] = a;
        parts[(long long)blockIdx.x * 2 * channels + channels + c] = b;
    }
}
// The same for a matrix whose numbers or gradients are halved, and channels that are multiples of eight. A block has a chunk of
// rows and 32 channels: each of its threads takes eight of them, of every 64th row.
enum { X_HALVED = 1, G_HALVED = 2 };
extern "C" __global__ void __launch_bounds__(256, 3) column_parts_by_eights(int what, int kind, const void* x, const void* g, const float* saved, const float* weight, float* parts, int halved, int rows, int channels, int chunk) {
    __shared__ float of_warp[2][8][32];
    int t = threadIdx.x, c = blockIdx.y * 32 + t % 4 * 8, first = blockIdx.x * chunk, end = min(rows, first + chunk);
    float a[8] = {}, b[8] = {};
    if (c < channels) {
        float shift[8], factor[8], bias[8]; // by which the activation's input is worked out
        #pragma unroll
        for (int k = 0; k < 8; k++) {
            shift[k] = what == BACK ? saved[c + k] : one_of(x, halved & X_HALVED, c + k);
            factor[k] = kind >= 0 ? saved[channels + c + k] * weight[c + k] : 0.f;
            bias[k] = kind >= 0 ? weight[channels + c + k] : 0.f;
        }
        #pragma unroll 4
        for (int r = first + t / 4; r < end; r += 64) {
            long long i = ((long long)r * channels + c) / 8;
            Eight v(x, halved & X_HALVED, i);
            if (what == SPREAD) {
                #pragma unroll
                for (int k = 0; k < 8; k++) { float d = v.v[k] - shift[k]; a[k] += d; b[k] += d * d; }
            } else {
                Eight h(g, halved & G_HALVED, i);
                #pragma unroll
                for (int k = 0; k < 8; k++) {
                    float d = v.v[k] - shift[k], own = h.v[k] * slope(kind, d * factor[k] + bias[k]);
                    a[k] += own; b[k] += own * d;
                }
            }
        }
    }
    #pragma unroll
    for (int k = 0; k < 8; k++) {
        for (int by = 4; by < 32; by *= 2) { a[k] += __shfl_xor_sync(~0u, a[k], by); b[k] += __shfl_xor_sync(~0u, b[k], by); }
        if (t % 32 < 4) { of_warp[0][t / 32][t % 4 * 8 + k] = a[k]; of_warp[1][t / 32][t % 4 * 8 + k] = b[k]; }
    }
    __syncthreads();
    int which = t / 32, own = blockIdx.y * 32 + t % 32;
    if (which > 1 || own >= channels) return;
    float sum = 0;
    for (int warp = 0; warp < 8; warp++) sum += of_warp[which][warp][t % 32];
    if (what == BACK && which == 1) sum *= saved[channels + own];
    parts[((long long)blockIdx.x * 2 + which) * channels + own] = sum;
}
__device__ double2 column_total(const float* parts, int chunks, int channels, int c, double (*sh)[33]) {
    double a = 0, b = 0;
    if (c < channels)
        #pragma unroll 4
        for (int k = threadIdx.y; k < chunks; k += 8) {
        a += parts[(long long)k * 2 * channels + c];
        b += parts[(long long)k * 2 * channels + channels + c];
    }
    sh[threadIdx.y][threadIdx.x] = a; sh[8 + threadIdx.y][threadIdx.x] = b;
    __syncthreads();
    a = b = 0;
    for (int k = 0; k < 8; k++) { a += sh[k][threadIdx.x]; b += sh[8 + k][threadIdx.x]; }
    return make_double2(a, b);
}
extern "C" __global__ void column_sums(const float* parts, float* sums, int chunks, int channels) {
    __shared__ double sh[16][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    double2 t = column_total(parts, chunks, channels, c, sh);
    if (threadIdx.y == 0 && c < channels) sums[c] = (float)t.x;
}
// saved: means, then one over standard deviations. Running statistics move.
extern "C" __global__ void batch_statistics(const void* x, int halved, const float* parts, float* saved, float* running, int rows, int chunks, int channels, float momentum) {
    __shared__ double sh[16][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    double2 t = column_total(parts, chunks, channels, c, sh);
    if (threadIdx.y == 0 && c < channels) {
        double d = t.x / rows, mean = one_of(x, halved, c) + d, square = t.y - t.x * d;
        square = square > 0 ? square : 0;
        saved[c] = (float)mean;
        saved[channels + c] = 1.f / sqrtf((float)(square / rows) + 1e-5f);
        double left = rows > 1 ? rows - 1 : 1;
        running[c] = (float)((1.0 - momentum) * running[c] + momentum * mean);
        running[channels + c] = (float)((1.0 - momentum) * running[channels + c] + momentum * square / left);
    }
}
extern "C" __global__ void running_statistics(const float* running, float* saved, int channels) {
    EACH(c, channels) { saved[c] = running[c]; saved[channels + c] = 1.f / sqrtf(running[channels + c] + 1e-5f); }
}
// What becomes of a number of a channel, and of its gradient.
struct Channel {
    float mean, scale, weight, bias, kept, kept_normal;
    __device__ __forceinline__ Channel(const float* saved, const float* w, const float* sums, int channels, int c)
        : mean(saved[c]), scale(saved[channels + c]), weight(w[c]), bias(w[channels + c]), kept(sums ? sums[c] : 0.f), kept_normal(sums ? sums[channels + c] : 0.f) {}
    __device__ __forceinline__ float forward(int kind, float x) const { return activated(kind, (x - mean) * scale * weight + bias); }
    __device__ __forceinline__ float back(int kind, float x, float g) const {
        float normal = (x - mean) * scale;
        if (kind >= 0) g *= slope(kind, normal * weight + bias);
        return weight * scale * (g - kept - normal * kept_normal);
    }
};
// `width` numbers at a time: 4 where channels are a multiple of four, else 1. Includes the activation that follows, if
// there is one.
extern "C" __global__ void batch_norm(int kind, const float* x, const float* saved, const float* weight, float* y, int channels, int width, long long n) {
    EACH(i, n) {
        int c = i % (u32)(channels / width) * width;
        if (width == 1) { y[i] = Channel(saved, weight, nullptr, channels, c).forward(kind, x[i]); continue; }
        float4 v = ((const float4*)x)[i];
        v.x = Channel(saved, weight, nullptr, channels, c).forward(kind, v.x);
        v.y = Channel(saved, weight, nullptr, channels, c + 1).forward(kind, v.y);
        v.z = Channel(saved, weight, nullptr, channels, c + 2).forward(kind, v.z);
        v.w = Channel(saved, weight, nullptr, channels, c + 3).forward(kind, v.w);
        ((float4*)y)[i] = v;
    }
}
// The same where numbers are halved and channels a multiple of eight: a thread has eight of them, of several rows. A block has
// whole rows.
enum { Y_HALVED = 4 };
extern "C" __global__ void __launch_bounds__(256, 4) batch_norm_by_eights(int kind, const void* x, const float* saved, const float* weight, void* y, int halved, int channels, int rows) {
    int eights = channels / 8, own = threadIdx.x % eights, at_once = blockDim.x / eights;
    float factor[8], bias[8];
    #pragma unroll
    for (int k = 0; k < 8; k++) {
        Channel c(saved, weight, nullptr, channels, own * 8 + k);
        factor[k] = c.scale * c.weight;
        bias[k] = c.bias - c.mean * factor[k];
    }
    for (int r = blockIdx.x * at_once + threadIdx.x / eights; r < rows; r += gridDim.x * at_once) {
        long long i = (long long)r * eights + own;
        Eight v(x, halved & X_HALVED, i);
        #pragma unroll
        for (int k = 0; k < 8; k++) v.v[k] = activated(kind, v.v[k] * factor[k] + bias[k]);
        v.put(y, halved & Y_HALVED, i);
    }
}
// The gradient of weight and bias; keeps what the inputs need: sums times `fraction`.
extern "C" __global__ void batch_norm_sums(const float* parts, float* gradient, float* kept, int chunks, int channels, float fraction) {
    __shared__ double sh[16][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    double2 t = column_total(parts, chunks, channels, c, sh);
    if (threadIdx.y == 0 && c < channels) {
        gradient[c] = (float)t.y; gradient[channels + c] = (float)t.x;
        kept[c] = (float)(t.x * fraction); kept[channels + c] = (float)(t.y * fraction);
    }
}
// `adds`: whether the result is added to what is there.
extern "C" __global__ void batch_norm_back(int kind, const float* x, const float* g, const float* saved, const float* weight, const float* kept, float* dx, int adds, int channels, int width, long long n) {
    EACH(i, n) {
        int c = i % (u32)(channels / width) * width;
        if (width == 1) { dx[i] = Channel(saved, weight, kept, channels, c).back(kind, x[i], g[i]) + (adds ? dx[i] : 0.f); continue; }
        float4 v = ((const float4*)x)[i], h = ((const float4*)g)[i];
        v.x = Channel(saved, weight, kept, channels, c).back(kind, v.x, h.x);
        v.y = Channel(saved, weight, kept, channels, c + 1).back(kind, v.y, h.y);
        v.z = Channel(saved, weight, kept, channels, c + 2).back(kind, v.z, h.z);
        v.w = Channel(saved, weight, kept, channels, c + 3).back(kind, v.w, h.w);
        if (adds) { float4 old = ((float4*)dx)[i]; v.x += old.x; v.y += old.y; v.z += old.z; v.w += old.w; }
        ((float4*)dx)[i] = v;
    }
}
extern "C" __global__ void __launch_bounds__(256, 3) batch_norm_back_by_eights(int kind, const void* x, const void* g, const float* saved, const float* weight, const float* kept, void* dx, int adds, int halved, int channels, int rows) {
    int eights = channels / 8, own = threadIdx.x % eights, at_once = blockDim.x / eights;
    // What `Channel::back` works out, as factors of h, the gradient before the activation, and of x.
    float factor[8], bias[8], of_x[8], rest[8];
    #pragma unroll
    for (int k = 0; k < 8; k++) {
        Channel c(saved, weight, kept, channels, own * 8 + k);
        factor[k] = c.scale * c.weight;
        bias[k] = c.bias - c.mean * factor[k];
        of_x[k] = -factor[k] * c.scale * c.kept_normal;
        rest[k] = -factor[k] * c.kept - of_x[k] * c.mean;
    }
    for (int r = blockIdx.x * at_once + threadIdx.x / eights; r < rows; r += gridDim.x * at_once) {
        long long i = (long long)r * eights + own;
        Eight v(x, halved & X_HALVED, i), h(g, halved & G_HALVED, i);
        #pragma unroll
        for (int k = 0; k < 8; k++) {
            float own_h = h.v[k] * slope(kind, v.v[k] * factor[k] + bias[k]);
            v.v[k] = factor[k] * own_h + of_x[k] * v.v[k] + rest[k];
        }
        if (adds) {
            Eight old(dx, false, i);
            #pragma unroll
            for (int k = 0; k < 8; k++) v.v[k] += old.v[k];
        }
        v.put(dx, halved & Y_HALVED, i);
    }
}

// Filter response normalisation: a block for each example and `lanes` channels, a power of two up to 32.
struct Slots { int slot, slots, c; long long at; };
__device__ Slots slots_of(int places, int channels, int lanes) {
    Slots s;
    s.slot = threadIdx.x / lanes; s.slots = blockDim.x / lanes; s.c = blockIdx.y * lanes + threadIdx.x % lanes;
    s.at = (long long)blockIdx.x * places * channels + s.c;
    return s;
}
// The sum over the threads of a channel, in a fixed order.
__device__ float over_slots(float* sh, float mine, int slots, int lanes) {
    sh[threadIdx.x] = mine; __syncthreads();
    for (int half = slots / 2; half > 0; half /= 2) {
        if (threadIdx.x < half * lanes) sh[threadIdx.x] += sh[threadIdx.x + half * lanes];
        __syncthreads();
    }
    return sh[threadIdx.x % lanes];
}
extern "C" __global__ void response_norm(const float* x, const float* weight, float* y, float* scales, int places, int channels, int lanes) {
    __shared__ float sh[512];
    Slots s = slots_of(places, channels, lanes);
    float sum = 0;
    if (s.c < channels)
        #pragma unroll 4
        for (int p = s.slot; p < places; p += s.slots) { float v = x[s.at + (long long)p * channels]; sum += v * v; }
    sum = over_slots(sh, sum, s.slots, lanes);
    if (s.c >= channels) return;
    float scale = 1.f / sqrtf(sum / places + 1e-6f), w = weight[s.c], b = weight[channels + s.c];
    if (s.slot == 0) scales[(long long)blockIdx.x * channels + s.c] = scale;
    #pragma unroll 4
    for (int p = s.slot; p < places; p += s.slots) y[s.at + (long long)p * channels] = w * x[s.at + (long long)p * channels] * scale + b;
}
// parts: for each example the sums of g and of g x scale. `dx` may be missing.
extern "C" __global__ void response_norm_back(const float* x, const float* g, const float* weight, const float* scales, float* dx, float* parts, int places, int channels, int lanes) {
    __shared__ float one[512], two[512];
    Slots s = slots_of(places, channels, lanes);
    float a = 0, b = 0;
    if (s.c < channels)
        #pragma unroll 4
        for (int p = s.slot; p < places; p += s.slots) {
            float h = g[s.at + (long long)p * channels]; a += h * x[s.at + (long long)p * channels]; b += h;
        }
    a = over_slots(one, a, s.slots, lanes); b = over_slots(two, b, s.slots, lanes);
    if (s.c >= channels) return;
    float scale = scales[(long long)blockIdx.x * channels + s.c], w = weight[s.c];
    if (s.slot == 0) { parts[(long long)blockIdx.x * 2 * channels + s.c] = b; parts[(long long)blockIdx.x * 2 * channels + channels + s.c] = a * scale; }
    if (dx)
        #pragma unroll 4
        for (int p = s.slot; p < places; p += s.slots) {
            long long i = s.at + (long long)p * channels;
            dx[i] = w * scale * (g[i] - x[i] * scale * scale * a / places);
        }
}

// Masks of dropout, one for each example or one for all: bit by bit those of the host.
extern "C" __global__ void dropout(const float* x, float* y, float* mask, const u64* key, int of_examples, u64 threshold, float kept, int size, long long n) {
    EACH(i, n) {
        u64 example = i / (u32)size, k = i % (u32)size;
        u64 bits = splitmix(start_of(*key, of_examples ? example : 0) + (k / 2 + 1) * GAMMA);
        float m = ((k & 1 ? bits >> 32 : bits) & 0xffffffffull) < threshold ? 0.f : kept;
        mask[i] = m; y[i] = x[i] * m;
    }
}
// One of the sixteen generators of normal numbers that begin at a state.
__device__ Lane lane_of(u64 start, int lane) {
    Lane g;
    g.a = splitmix(start + (lane + 1) * GAMMA) >> 32; g.b = splitmix(start + (16 + lane + 1) * GAMMA) >> 32;
    g.c = splitmix(start + (32 + lane + 1) * GAMMA) >> 32; g.d = splitmix(start + (48 + lane + 1) * GAMMA) >> 32;
    return g;
}
// Sixteen threads for each example; the mask must be filled with 1 before.
extern "C" __global__ void normal_mask(float* mask, const u64* key, int of_examples, float std, int size, int examples) {
    int example = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
    if (example >= examples) return;
    u64 start = start_of(*key, of_examples ? example : 0);
    add_lane(mask + (long long)example * size, std, lane_of(start, lane), lane, size);
}
// Adds normal numbers to `z`: sixteen threads for each chunk of an example, which has `chunks` of them.
extern "C" __global__ void normal_chunks(float* z, const u64* key, int of_examples, int size, int chunk, int chunks, int count) {
    int index = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
    if (index >= count) return;
    u64 number = of_examples ? index : index % chunks;
    int first = index % chunks * chunk;
    add_lane(z + (long long)(index / chunks) * size + first, 1.f, lane_of(start_of(*key, number), lane), lane, min(chunk, size - first));
}
// y = mean + sqrt(variance) z; z becomes the slope z / (2 sqrt(variance)), 0 where there is no variance.
extern "C" __global__ void draw_normal(const float* mean, const float* variance, float* z, float* y, long long n) {
    EACH(i, n) {
        float v = variance[i], std = v > 0 ? sqrtf(v) : 0.f, draw = z[i];
        y[i] = mean[i] + std * draw;
        z[i] = v > 0 ? draw / (2.f * std) : 0.f;
    }
}
// A sign for each channel, of each example or of all, 64 from a word of bits: those of the host.
extern "C" __global__ void random_signs(const float* x, float* y, float* signs, const u64* key, int of_examples, int channels, int size, long long n) {
    EACH(i, n) {
        u64 example = i / (u32)size, c = i % (u32)channels;
        u64 bits = splitmix(start_of(*key, of_examples ? example : 0) + (c / 64 + 1) * GAMMA);
        float sign = bits >> (c % 64) & 1 ? -1.f : 1.f;
        signs[i] = sign; y[i] = x[i] * sign;
    }
}
extern "C" __global__ void multiply(const float* x, const float* m, float* y, long long n) { EACH(i, n) y[i] = x[i] * m[i]; }
