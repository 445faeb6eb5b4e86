// Convolutions in bfloat16 by the matrix instructions of compute capability 9.0, which take both factors from shared
// memory and run while the threads go on. As in convolutions.cu, windows are gathered while they are multiplied, images
// lie [height, width, channels], weights [kernel, kernel, channels in, channels out]; channels are multiples of eight.
//
// The program is compiled for one tile at a time, with
//   ROWS, COLUMNS: the tile, of which each of two groups of four warps has half of the rows; STAGES: chunks in flight
//   BLOCK: channels whose taps come one after the other, 8 to 64
//   ROLE 0: forward; 1: the gradient of the inputs; 2: the gradient of the weights
// and `multiply(float* c, u64 a, u64 b)`, the instruction for 64 rows, COLUMNS columns and 16 of the depth.
typedef unsigned short bf16;

#define DEPTH 64
#define THREADS 256
#define UNIT 8 // numbers of a copy
#define DOWN (ROWS / 128)
#define COUNT (COLUMNS / 2) // numbers that a thread has of 64 rows

// A factor in shared memory, in blocks of 128 bytes whose units are swizzled, so that the same unit of eight rows lies
// in different banks. DEEP: a row of the tile has its 64 of the depth one after the other. WIDE: a row of the depth has
// 64 of the tile.
#define DEEP_BYTES(side) ((side) * 128)
#define WIDE_BYTES(side) (((side) + 63) / 64 * DEPTH * 128)
#define A_BYTES (ROLE == 2 ? WIDE_BYTES(ROWS) : DEEP_BYTES(ROWS))
#define B_BYTES (ROLE == 1 ? DEEP_BYTES(COLUMNS) : WIDE_BYTES(COLUMNS))
#define STAGE_BYTES (A_BYTES + B_BYTES)
__device__ __forceinline__ u32 deep(int row, int unit) { return row * 128 + ((unit ^ row % 8) * 16); }
__device__ __forceinline__ u32 wide(int k, int unit) { return unit / 8 * (DEPTH * 128) + k * 128 + ((unit % 8 ^ k % 8) * 16); }

// What the instruction is told about a factor at an address, and how far away the next 16 of the depth are.
__device__ __forceinline__ u64 factor(u32 address, bool is_wide) {
    u64 next_block = is_wide ? DEPTH * 128 / 16 : 1, next_eight = 1024 / 16;
    return (u64)(address / 16) | next_block << 16 | next_eight << 32 | 1ull << 62;
}
#define A_STEP (ROLE == 2 ? 2048 : 32)
#define B_STEP (ROLE == 1 ? 32 : 2048)
#define A_DOWN (ROLE == 2 ? DEPTH * 128 : 64 * 128) // to the next 64 rows

extern __shared__ __align__(1024) unsigned char shared_memory[];

// Copies a unit to shared memory; zeros where there is nothing to copy.
__device__ __forceinline__ void copy_later(u32 to, const bf16* from, bool there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0));
}

// Taps and channels in an order in which all taps of BLOCK channels come one after the other.
struct Run {
    int tap, channel;
    __device__ __forceinline__ Run(int run, int taps) : tap(taps ? run % taps : 0), channel(taps ? run / taps * BLOCK : 0) {}
    __device__ __forceinline__ void move_on(int runs, int taps) { tap += runs; while (tap >= taps) { tap -= taps; channel += BLOCK; } }
};

// Chunk after chunk, copies STAGES - 2 ahead. When the groups meet, both have finished the product of the last chunk
// but one: its stage is overwritten while the product of this chunk is under way.
template <class F> __device__ __forceinline__ void each_chunk(float (*acc)[COUNT], u32 tiles, int chunks, F copy) {
    int group = threadIdx.x / 128;
    for (int chunk = 0; chunk < STAGES - 2; chunk++) {
        if (chunk < chunks) copy(chunk, tiles + chunk % STAGES * STAGE_BYTES);
        asm volatile("cp.async.commit_group;");
    }
    for (int chunk = 0; chunk < chunks; chunk++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 3));
        asm volatile("fence.proxy.async.shared::cta;");
        __syncthreads();
        u32 a = tiles + chunk % STAGES * STAGE_BYTES, b = a + A_BYTES;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        #pragma unroll
        for (int k = 0; k < DEPTH / 16; k++)
            #pragma unroll
            for (int m = 0; m < DOWN; m++)
                multiply(acc[m], factor(a + (group * DOWN + m) * A_DOWN + k * A_STEP, ROLE == 2), factor(b + k * B_STEP, ROLE != 1));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        int next = chunk + STAGES - 2;
        if (next < chunks) copy(next, tiles + next % STAGES * STAGE_BYTES);
        asm volatile("cp.async.commit_group;");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

__device__ __forceinline__ u32 two_bf16(float low, float high) { u32 r; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low)); return r; }

// Writes a tile's result, as bfloat16 if it is halved: `place(row)` says which row of `width` numbers it is, `first` of which
// are before the tile; it is negative if there is no such row.
template <class F> __device__ __forceinline__ void hand_over(float (*acc)[COUNT], int first, int width, const float* bias, void* out, bool halved, F place) {
    int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, odd = lane % 2;
    #pragma unroll
    for (int m = 0; m < DOWN; m++)
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            int row = place((threadIdx.x / 128 * DOWN + m) * 64 + warp * 16 + lane / 4 + h * 8);
            size_t start = (size_t)row * width;
            #pragma unroll
            for (int n = 0; n < COLUMNS / 8; n += 2) {
                float2 two[2];
                #pragma unroll
                for (int e = 0; e < 2; e++) {
                    int c = first + (n + e) * 8 + lane % 4 * 2;
                    two[e] = make_float2(acc[m][(n + e) * 4 + 2 * h], acc[m][(n + e) * 4 + 2 * h + 1]);
                    if (bias && c < width) { two[e].x += bias[c]; two[e].y += bias[c + 1]; }
                    if (!halved && row >= 0 && c < width) *(float2*)((float*)out + start + c) = two[e];
                }
                if (!halved) continue;
                // Four columns for each thread: neighbours swap two, so that a row's are written sixteen at a time.
                u32 own[2] = {two_bf16(two[0].x, two[0].y), two_bf16(two[1].x, two[1].y)}, got = __shfl_xor_sync(~0u, odd ? own[0] : own[1], 1);
                int c = first + (n + odd) * 8 + lane % 4 / 2 * 4;
                if (row >= 0 && c < width) *(uint2*)((bf16*)out + start + c) = odd ? make_uint2(got, own[1]) : make_uint2(own[0], got);
            }
        }
}

// What a thread copies of a factor that lies WIDE: a row of the depth, every fourth unit of it. Zeros where the row is not
// there, or a unit is beyond `width` numbers.
__device__ __forceinline__ void copy_row(u32 tile, int k, const bf16* row, bool there, int width) {
    int first = threadIdx.x % 4;
    #pragma unroll
    for (int i = 0; i < COLUMNS / 32; i++)
        copy_later(tile + wide(k, first + i * 4), row + i * 32, there && i * 32 < width);
}

#if ROLE != 2
// out[image, y, x, n] = sum over taps and channels of in * weights, plus a bias if there is one, as bfloat16 if it is halved.
// With ROLE 1, `in` is the gradient [H, W, C] of what went out, and `out` that of what came in: its places fall into
// stride^2 classes, blockIdx.z, each of which is reached by different taps. At most 32 taps.
extern "C" __global__ void __launch_bounds__(THREADS, 1) convolution(const bf16* in, const bf16* weights, const float* bias, void* out,
        int images, int H, int W, int C, int OH, int OW, int N, int kernel, int stride, int pad, int halved) {
    u32 tiles = (u32)__cvta_generic_to_shared(shared_memory);
    // The class: its places, the first tap that reaches them, and how many taps do.
    const bool back = ROLE == 1;
    int py = back ? blockIdx.z / stride : 0, px = back ? blockIdx.z % stride : 0, apart = back ? stride : 1;
    int QH = (OH - py + apart - 1) / apart, QW = (OW - px + apart - 1) / apart;
    int ky0 = back ? (py + pad) % stride : 0, kx0 = back ? (px + pad) % stride : 0;
    int ny = (kernel - ky0 + apart - 1) / apart, nx = (kernel - kx0 + apart - 1) / apart, taps = ny * nx;
    int rows = images * QH * QW, depth = taps * C, first_row = blockIdx.x * ROWS, first_column = blockIdx.y * COLUMNS;
    if (first_row >= rows) return;
    // What this thread copies: a unit of a tap's channels, of every 32nd row. Where the corners of their windows are, and a bit
    // for each tap that is inside of the image.
    const int COPIES = ROWS / 32, RUNS = DEPTH / BLOCK;
    int part = threadIdx.x % 8, own_row = threadIdx.x / 8, at[COPIES];
    u32 inside[COPIES];
    #pragma unroll
    for (int i = 0; i < COPIES; i++) {
        int m = first_row + own_row + i * 32, x = m % QW, y = m / QW % QH;
        y = back ? (y * stride + py + pad - ky0) / stride : y * stride - pad;
        x = back ? (x * stride + px + pad - kx0) / stride : x * stride - pad;
        at[i] = ((m / (QW * QH) * H + y) * W + x) * C;
        inside[i] = 0;
        for (int tap = 0; tap < taps && m < rows; tap++) {
            int jy = back ? -(tap / nx) : tap / nx, jx = back ? -(tap % nx) : tap % nx;
            if ((u32)(y + jy) < (u32)H && (u32)(x + jx) < (u32)W) inside[i] |= 1u << tap;
        }
    }
    // Which channels, chunk after chunk: its own, and those of the row of the weights that it copies.
    Run own(part * UNIT / BLOCK, taps), of_row(threadIdx.x / 4 / BLOCK, taps);
    int column = first_column + threadIdx.x % 4 * UNIT;
    auto copy = [&](int chunk, u32 a) {
        int jy = own.tap / nx, jx = own.tap - jy * nx, c = own.channel + part * UNIT % BLOCK;
        bool there = c < C;
        const bf16* from = in + ((back ? -(jy * W + jx) : jy * W + jx) * C + c);
        #pragma unroll
        for (int i = 0; i < COPIES; i++)
            copy_later(a + deep(own_row, part) + i * (32 * 128), from + at[i], there && (inside[i] >> own.tap & 1));
        if (back) { // [column, channel that went out]
            const bf16* from = weights + ((size_t)((ky0 + stride * jy) * kernel + kx0 + stride * jx) * N + first_column + own_row) * C + c;
            #pragma unroll
            for (int i = 0; i < COLUMNS / 32; i++)
                copy_later(a + A_BYTES + deep(own_row, part) + i * (32 * 128), from + i * 32 * C, there && first_column + own_row + i * 32 < N);
        } else { // [tap and channel, column]
            int k = threadIdx.x / 4, channel = of_row.channel + k % BLOCK;
            copy_row(a + A_BYTES, k, weights + (size_t)(of_row.tap * C + channel) * N + column, channel < C, N - column);
            of_row.move_on(RUNS, taps);
        }
        own.move_on(RUNS, taps);
    };
    float acc[DOWN][COUNT] = {};
    each_chunk(acc, tiles, (depth + DEPTH - 1) / DEPTH, copy);
    hand_over(acc, first_column, N, bias, out, halved, [&](int row) {
        int m = first_row + row, place = m;
        if (back) place = (m / (QW * QH) * OH + m / QW % QH * stride + py) * OW + m % QW * stride + px;
        return m < rows ? place : -1;
    });
}
#else
// parts[blockIdx.z][tap, channel in, channel out] = sum of in * gradient over a stretch of the output's places.
extern "C" __global__ void __launch_bounds__(THREADS, 1) convolution(const bf16* in, const bf16* gradient, float* parts,
        int images, int H, int W, int C, int OH, int OW, int N, int kernel, int stride, int pad, int chunks_each) {
    u32 tiles = (u32)__cvta_generic_to_shared(shared_memory);
    int rows = kernel * kernel * C, taps = kernel * kernel, places = images * OH * OW, first_row = blockIdx.x * ROWS, first_column = blockIdx.y * COLUMNS;
    int first_chunk = blockIdx.z * chunks_each, chunks = min(chunks_each, (places + DEPTH - 1) / DEPTH - first_chunk);
    // What this thread copies of the images: a unit of a tap's channels, at places one after the other.
    const int UNITS = ROWS / UNIT, COPIES = DEPTH * UNITS / THREADS;
    int own = threadIdx.x % UNITS, place = threadIdx.x / UNITS * COPIES, row = first_row + own * UNIT;
    Run run(row / BLOCK, taps);
    int c = run.channel + row % BLOCK, ky = run.tap / kernel - pad, kx = run.tap % kernel - pad, column = first_column + threadIdx.x % 4 * UNIT;
    // Whether they lie on one line of the output, as they do if the length of a line is a multiple of their number. The
    // place moves by DEPTH.
    bool on_line = OW % COPIES == 0;
    int p = first_chunk * DEPTH + place, ox = p % OW, oy = p / OW % OH, image = p / (OW * OH), lines = DEPTH / OW, rest = DEPTH % OW;
    auto copy = [&](int chunk, u32 a) {
        u32 to = a + wide(place, own);
        #pragma unroll
        for (int i = 0; i < COPIES; i++) {
            if (!on_line && i > 0) { int q = p + i; ox = q % OW; oy = q / OW % OH; image = q / (OW * OH); }
            int y = oy * stride + ky, x = (on_line ? ox + i : ox) * stride + kx;
            bool there = c < C && image < images && (u32)y < (u32)H && (u32)x < (u32)W;
            copy_later(((to ^ ((place + i) % 8 ^ place % 8) * 16)) + i * 128, in + (((image * H + y) * W + x) * C + c), there);
        }
        p += DEPTH;
        if (on_line) {
            ox += rest; oy += lines;
            if (ox >= OW) { ox -= OW; oy++; }
            while (oy >= OH) { oy -= OH; image++; }
        } else { ox = p % OW; oy = p / OW % OH; image = p / (OW * OH); }
        int k = threadIdx.x / 4, q = (first_chunk + chunk) * DEPTH + k;
        copy_row(a + A_BYTES, k, gradient + (size_t)q * N + column, q < places, N - column);
    };
    float acc[DOWN][COUNT] = {};
    each_chunk(acc, tiles, chunks, copy);
    float* to = parts + (size_t)blockIdx.z * rows * N;
    hand_over(acc, first_column, N, nullptr, to, false, [&](int row) {
        row += first_row;
        Run of(row / BLOCK, taps);
        int channel = of.channel + row % BLOCK;
        return channel < C ? of.tap * C + channel : -1;
    });
}
#endif
