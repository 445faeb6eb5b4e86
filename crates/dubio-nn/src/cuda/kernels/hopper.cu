// Convolutions in bfloat16 by the matrix instructions of compute capability 9.0, which take both factors from shared
// memory and work while the threads go on. As in convolutions.cu, windows are gathered while they are multiplied, images
// lie [height, width, channels], weights [kernel, kernel, channels in, channels out]; channels come in eights.
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

// A factor in shared memory, in blocks of 128 bytes whose units are mixed, so that eight rows of a unit lie in other banks.
// DEEP: a row of the tile has its 64 of the depth one after the other. WIDE: a row of the depth has 64 of the tile.
#define DEEP_BYTES(side) ((side) * 128)
#define WIDE_BYTES(side) (((side) + 63) / 64 * DEPTH * 128)
#define A_BYTES (ROLE == 2 ? WIDE_BYTES(ROWS) : DEEP_BYTES(ROWS))
#define B_BYTES (ROLE == 1 ? DEEP_BYTES(COLUMNS) : WIDE_BYTES(COLUMNS))
#define STAGE_BYTES (A_BYTES + B_BYTES)
__device__ __forceinline__ u32 deep(int row, int unit) { return row * 128 + ((unit ^ row % 8) * 16); }
__device__ __forceinline__ u32 wide(int k, int unit) { return unit / 8 * (DEPTH * 128) + k * 128 + ((unit % 8 ^ k % 8) * 16); }

// What the instruction is told of a factor at an address, and how far on the next 16 of the depth are.
__device__ __forceinline__ u64 factor(u32 address, bool is_wide) {
    u64 next_block = is_wide ? DEPTH * 128 / 16 : 1, next_eight = 1024 / 16;
    return (u64)(address / 16) | next_block << 16 | next_eight << 32 | 1ull << 62;
}
#define A_STEP (ROLE == 2 ? 2048 : 32)
#define B_STEP (ROLE == 1 ? 32 : 2048)
#define A_DOWN (ROLE == 2 ? DEPTH * 128 : 64 * 128) // to the next 64 rows

extern __shared__ __align__(1024) unsigned char shared_memory[];

// Copies a unit to shared memory; zeros where there is nothing to copy. Images stay in the first-level cache, where the taps
// after this one find most of theirs; what is read once does not go there.
__device__ __forceinline__ void copy_image(u32 to, const bf16* from, bool there) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0));
}
__device__ __forceinline__ void copy_other(u32 to, const bf16* from, bool there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0));
}

// Taps and channels in an order in which all taps of BLOCK channels come one after the other.
struct Run {
    int tap, channel;
    __device__ __forceinline__ Run(int run, int taps) : tap(run % taps), channel(run / taps * BLOCK) {}
    __device__ __forceinline__ void move_on(int runs, int taps) { tap += runs; while (tap >= taps) { tap -= taps; channel += BLOCK; } }
};

// Chunk after chunk, copies STAGES - 1 ahead: a stage is written again when both groups have ended its product.
template <class F> __device__ __forceinline__ void each_chunk(float (*acc)[COUNT], u32 tiles, int chunks, F copy) {
    int group = threadIdx.x / 128;
    for (int chunk = 0; chunk < STAGES - 1; chunk++) {
        if (chunk < chunks) copy(chunk, tiles + chunk % STAGES * STAGE_BYTES);
        asm volatile("cp.async.commit_group;");
    }
    for (int chunk = 0; chunk < chunks; chunk++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
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
        int next = chunk + STAGES - 1;
        if (next < chunks) copy(next, tiles + next % STAGES * STAGE_BYTES);
        asm volatile("cp.async.commit_group;");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// Hands over a tile's result: `place(row)` says where a row of `width` numbers begins, `first` of which are before the tile.
template <class F> __device__ __forceinline__ void hand_over(float (*acc)[COUNT], int first, int width, const float* bias, F place) {
    int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, column = first + lane % 4 * 2;
    #pragma unroll
    for (int m = 0; m < DOWN; m++)
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            float* to = place((threadIdx.x / 128 * DOWN + m) * 64 + warp * 16 + lane / 4 + h * 8);
            if (!to) continue;
            #pragma unroll
            for (int n = 0; n < COLUMNS / 8; n++) {
                int c = column + n * 8;
                if (c >= width) continue;
                float2 two = make_float2(acc[m][n * 4 + 2 * h], acc[m][n * 4 + 2 * h + 1]);
                if (bias) { two.x += bias[c]; two.y += bias[c + 1]; }
                *(float2*)(to + c) = two;
            }
        }
}

#if ROLE != 2
// out[image, y, x, n] = sum over taps and channels of in * weights, plus a bias if there is one. With ROLE 1, `in` is the
// gradient [H, W, C] of what went out, and `out` that of what came in: its places fall into stride^2 classes, blockIdx.z,
// which are reached by other taps.
extern "C" __global__ void __launch_bounds__(THREADS, 1) convolution(const bf16* in, const bf16* weights, const float* bias, float* out,
        int images, int H, int W, int C, int OH, int OW, int N, int kernel, int stride, int pad) {
    u32 tiles = (u32)__cvta_generic_to_shared(shared_memory);
    // The class: its places, the first tap that reaches them, how many do.
    const bool back = ROLE == 1;
    int py = back ? blockIdx.z / stride : 0, px = back ? blockIdx.z % stride : 0, apart = back ? stride : 1;
    int QH = (OH - py + apart - 1) / apart, QW = (OW - px + apart - 1) / apart;
    int ky0 = back ? (py + pad) % stride : 0, kx0 = back ? (px + pad) % stride : 0;
    int ny = (kernel - ky0 + apart - 1) / apart, nx = (kernel - kx0 + apart - 1) / apart;
    int rows = images * QH * QW, depth = ny * nx * ((C + BLOCK - 1) / BLOCK * BLOCK), first_row = blockIdx.x * ROWS, first_column = blockIdx.y * COLUMNS;
    if (first_row >= rows) return;
    // What this thread copies: a unit of a tap's channels, of every 32nd row. Corners of windows: y above x, and where that is.
    const int COPIES = ROWS / 32;
    int part = threadIdx.x % 8, own_row = threadIdx.x / 8, corner[COPIES], at[COPIES];
    #pragma unroll
    for (int i = 0; i < COPIES; i++) {
        int m = first_row + own_row + i * 32, x = m % QW, y = m / QW % QH;
        y = m >= rows ? -(1 << 14) : back ? (y * stride + py + pad - ky0) / stride : y * stride - pad;
        x = back ? (x * stride + px + pad - kx0) / stride : x * stride - pad;
        corner[i] = y * 65536 + (x & 65535);
        at[i] = ((m / (QW * QH) * H + y) * W + x) * C;
    }
    // Which of them, chunk after chunk: its own, and those of the rows of the weights that it copies.
    int taps = ny * nx, runs = DEPTH / BLOCK;
    Run own(part * UNIT / BLOCK, taps);
    auto copy = [&](int chunk, u32 a) {
        u32 b = a + A_BYTES;
        int jy = own.tap / nx, jx = own.tap - jy * nx, c = own.channel + part * UNIT % BLOCK;
        bool inside = c < C;
        int from_corner = (back ? -(jy * W + jx) : jy * W + jx) * C + c;
        #pragma unroll
        for (int i = 0; i < COPIES; i++) {
            int y = corner[i] >> 16, x = (short)corner[i];
            y = back ? y - jy : y + jy; x = back ? x - jx : x + jx;
            bool there = inside && (u32)y < (u32)H && (u32)x < (u32)W;
            copy_image(a + deep(own_row + i * 32, part), there ? in + at[i] + from_corner : in, there);
        }
        if (back) { // [column, channel that went out]
            const bf16* from = weights + (size_t)((ky0 + stride * jy) * kernel + kx0 + stride * jx) * N * C + c;
            #pragma unroll
            for (int i = 0; i < (COLUMNS + 31) / 32; i++) {
                int n = own_row + i * 32;
                if (COLUMNS % 32 && n >= COLUMNS) continue;
                bool there = inside && first_column + n < N;
                copy_other(b + deep(n, part), there ? from + (size_t)(first_column + n) * C : weights, there);
            }
        } else { // [tap and channel, column]
            #pragma unroll
            for (int i = threadIdx.x; i < DEPTH * COLUMNS / UNIT; i += THREADS) {
                int unit = i % (COLUMNS / UNIT), k = i / (COLUMNS / UNIT), n = first_column + unit * UNIT;
                Run of(chunk * runs + k / BLOCK, taps);
                int channel = of.channel + k % BLOCK;
                bool there = channel < C && n < N;
                copy_other(b + wide(k, unit), there ? weights + (size_t)(of.tap * C + channel) * N + n : weights, there);
            }
        }
        own.move_on(runs, taps);
    };
    float acc[DOWN][COUNT] = {};
    each_chunk(acc, tiles, (depth + DEPTH - 1) / DEPTH, copy);
    hand_over(acc, first_column, N, bias, [&](int row) {
        int m = first_row + row, place = m;
        if (back) place = (m / (QW * QH) * OH + m / QW % QH * stride + py) * OW + m % QW * stride + px;
        return m < rows ? out + (size_t)place * N : nullptr;
    });
}
#else
// parts[blockIdx.z][tap, channel in, channel out] = sum of in * gradient over a stretch of the places that went out.
extern "C" __global__ void __launch_bounds__(THREADS, 1) convolution(const bf16* in, const bf16* gradient, float* parts,
        int images, int H, int W, int C, int OH, int OW, int N, int kernel, int stride, int pad, int chunks_each) {
    u32 tiles = (u32)__cvta_generic_to_shared(shared_memory);
    int rows = kernel * kernel * C, places = images * OH * OW, first_row = blockIdx.x * ROWS, first_column = blockIdx.y * COLUMNS;
    int first_chunk = blockIdx.z * chunks_each, chunks = min(chunks_each, (places + DEPTH - 1) / DEPTH - first_chunk);
    // What this thread copies of the images: a unit of a tap's channels, at several places, which move by DEPTH.
    const int UNITS = ROWS / UNIT, EACH = THREADS / UNITS, COPIES = DEPTH / EACH;
    int place = threadIdx.x / UNITS, own = threadIdx.x % UNITS, ox[COPIES], oy[COPIES], image[COPIES];
    int row = first_row + own * UNIT, taps = kernel * kernel;
    Run run(row / BLOCK, taps);
    int c = run.channel + row % BLOCK, ky = run.tap / kernel - pad, kx = run.tap % kernel - pad;
    #pragma unroll
    for (int i = 0; i < COPIES; i++) {
        int p = first_chunk * DEPTH + place + i * EACH;
        ox[i] = p % OW; oy[i] = p / OW % OH; image[i] = c < C ? p / (OW * OH) : images;
    }
    auto copy = [&](int chunk, u32 a) {
        u32 b = a + A_BYTES;
        #pragma unroll
        for (int i = 0; i < COPIES; i++) {
            int y = oy[i] * stride + ky, x = ox[i] * stride + kx;
            bool there = image[i] < images && (u32)y < (u32)H && (u32)x < (u32)W;
            copy_image(a + wide(place + i * EACH, own), there ? in + ((image[i] * H + y) * W + x) * C + c : in, there);
            ox[i] += DEPTH; // the chunk after this one
            while (ox[i] >= OW) { ox[i] -= OW; if (++oy[i] == OH) { oy[i] = 0; image[i]++; } }
        }
        #pragma unroll
        for (int i = threadIdx.x; i < DEPTH * COLUMNS / UNIT; i += THREADS) {
            int unit = i % (COLUMNS / UNIT), k = i / (COLUMNS / UNIT), n = first_column + unit * UNIT, p = (first_chunk + chunk) * DEPTH + k;
            bool there = p < places && n < N;
            copy_other(b + wide(k, unit), there ? gradient + (size_t)p * N + n : gradient, there);
        }
    };
    float acc[DOWN][COUNT] = {};
    each_chunk(acc, tiles, chunks, copy);
    float* to = parts + (size_t)blockIdx.z * rows * N;
    hand_over(acc, first_column, N, nullptr, [&](int row) {
        row += first_row;
        Run of(row / BLOCK, taps);
        int channel = of.channel + row % BLOCK;
        return channel < C ? to + (size_t)(of.tap * C + channel) * N : nullptr;
    });
}
#endif
