// Convolutions as products of matrices whose left factor is gathered while it is multiplied: no window is ever laid
// out in memory. Images lie [height, width, channels], weights [kernel, kernel, channels in, channels out].
// A block of threads works out a tile of the product on the tensor cores; numbers come by asynchronous copies, in
// chunks of DEPTH, STAGES - 1 of them ahead. Every sum has an order that depends on the sizes alone.
//
// The program is compiled for one tile at a time, with
//   PRECISION 0: each f32 as the sum of two TF32, so about the accuracy of f32; 1: TF32; 2: bfloat16
//   ROWS, COLUMNS: the tile; WARP_ROWS, WARP_COLUMNS: what a warp has of it; WIDTH: numbers of a copy, 4 or 1
//   BACK: the gradient of the inputs, as a convolution of the gradient of the outputs with the flipped weights
#define STAGES 4
#define DEPTH 16
#define WARPS_DOWN (ROWS / WARP_ROWS)
#define THREADS (32 * WARPS_DOWN * (COLUMNS / WARP_COLUMNS))
#define DOWN (WARP_ROWS / 16)
#define ACROSS (WARP_COLUMNS / 8)

extern __shared__ float4 shared_memory[];

// Copies WIDTH numbers to shared memory; zeros where there is nothing to copy.
__device__ __forceinline__ void copy_later(float* to, const float* from, bool there) {
    u32 at = (u32)__cvta_generic_to_shared(to);
    if (WIDTH == 4) asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(there ? 16 : 0));
    else asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(there ? 4 : 0));
}
__device__ __forceinline__ void end_of_chunk() { asm volatile("cp.async.commit_group;"); }
__device__ __forceinline__ void wait_for_chunk() { asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2)); __syncthreads(); }

__device__ __forceinline__ u32 two_bf16(float low, float high) { u32 r; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low)); return r; }
__device__ __forceinline__ void multiply_bf16(float* c, const u32* a, const u32* b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Where thread `lane` of a warp is in the fragments of a product of 16 x 8 x 8.
struct Lane { int g, t; };
__device__ __forceinline__ Lane lane_of() { Lane l = {(int)(threadIdx.x % 32) / 4, (int)threadIdx.x % 4}; return l; }

// acc += A B for a chunk. A has its numbers at row * ROW_STEP + k * DEPTH_STEP, B at k * B_DEPTH_STEP + column * COLUMN_STEP.
template <int ROW_STEP, int DEPTH_STEP, int B_DEPTH_STEP, int COLUMN_STEP>
__device__ __forceinline__ void multiply(float (*acc)[ACROSS][4], const float* a, const float* b) {
    Lane l = lane_of();
    int warp = threadIdx.x / 32;
    a += (warp % WARPS_DOWN * WARP_ROWS + l.g) * ROW_STEP + l.t * DEPTH_STEP;
    b += (warp / WARPS_DOWN * WARP_COLUMNS + l.g) * COLUMN_STEP + l.t * B_DEPTH_STEP;
    // In the order of the fragments of TF32; bfloat16 takes both eights of a chunk of 16 at once, in the same order in A and B.
    #pragma unroll
    for (int k = 0; k < DEPTH; k += 8) {
        float x[DOWN][4], w[ACROSS][2];
        #pragma unroll
        for (int m = 0; m < DOWN; m++)
            #pragma unroll
            for (int i = 0; i < 4; i++) x[m][i] = a[(m * 16 + i % 2 * 8) * ROW_STEP + (k + i / 2 * 4) * DEPTH_STEP];
        #pragma unroll
        for (int n = 0; n < ACROSS; n++)
            #pragma unroll
            for (int i = 0; i < 2; i++) w[n][i] = b[n * 8 * COLUMN_STEP + (k + i * 4) * B_DEPTH_STEP];
#if PRECISION == 2
        static_assert(DEPTH % 16 == 0, "two eights at a time");
        k += 8;
        float y[DOWN][4], v[ACROSS][2];
        #pragma unroll
        for (int m = 0; m < DOWN; m++)
            #pragma unroll
            for (int i = 0; i < 4; i++) y[m][i] = a[(m * 16 + i % 2 * 8) * ROW_STEP + (k + i / 2 * 4) * DEPTH_STEP];
        #pragma unroll
        for (int n = 0; n < ACROSS; n++)
            #pragma unroll
            for (int i = 0; i < 2; i++) v[n][i] = b[n * 8 * COLUMN_STEP + (k + i * 4) * B_DEPTH_STEP];
        u32 right[ACROSS][2];
        #pragma unroll
        for (int n = 0; n < ACROSS; n++) { right[n][0] = two_bf16(w[n][0], w[n][1]); right[n][1] = two_bf16(v[n][0], v[n][1]); }
        #pragma unroll
        for (int m = 0; m < DOWN; m++) {
            u32 left[4] = {two_bf16(x[m][0], x[m][2]), two_bf16(x[m][1], x[m][3]), two_bf16(y[m][0], y[m][2]), two_bf16(y[m][1], y[m][3])};
            #pragma unroll
            for (int n = 0; n < ACROSS; n++) multiply_bf16(acc[m][n], left, right[n]);
        }
#else
        u32 right[ACROSS][2], low_right[ACROSS][2];
        #pragma unroll
        for (int n = 0; n < ACROSS; n++)
            #pragma unroll
            for (int i = 0; i < 2; i++) {
                right[n][i] = high_tf32(w[n][i]);
                if (PRECISION == 0) low_right[n][i] = low_tf32(w[n][i], right[n][i]);
            }
        #pragma unroll
        for (int m = 0; m < DOWN; m++) {
            u32 left[4], low_left[4];
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                left[i] = high_tf32(x[m][i]);
                if (PRECISION == 0) low_left[i] = low_tf32(x[m][i], left[i]);
            }
            #pragma unroll
            for (int n = 0; n < ACROSS; n++) {
                if (PRECISION == 0) { multiply_tf32(acc[m][n], low_left, right[n]); multiply_tf32(acc[m][n], left, low_right[n]); }
                multiply_tf32(acc[m][n], left, right[n]);
            }
        }
#endif
    }
}

// Writes a tile's result: `place(row)` says where a row of `width` numbers begins, `first` of which are before the
// tile; it is null if there is no such row.
template <class F> __device__ __forceinline__ void hand_over(float (*acc)[ACROSS][4], int first, int width, const float* bias, F place) {
    Lane l = lane_of();
    int warp = threadIdx.x / 32, row = warp % WARPS_DOWN * WARP_ROWS + l.g, column = first + warp / WARPS_DOWN * WARP_COLUMNS + 2 * l.t;
    #pragma unroll
    for (int m = 0; m < DOWN; m++)
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            float* to = place(row + m * 16 + h * 8);
            if (!to) continue;
            #pragma unroll
            for (int n = 0; n < ACROSS; n++) {
                int c = column + n * 8;
                float one = acc[m][n][2 * h], two = acc[m][n][2 * h + 1];
                if (bias && c < width) { one += bias[c]; if (c + 1 < width) two += bias[c + 1]; }
                if (width % 2 == 0) { if (c < width) *(float2*)(to + c) = make_float2(one, two); }
                else { if (c < width) to[c] = one; if (c + 1 < width) to[c + 1] = two; }
            }
        }
}

// Chunk after chunk: copies are STAGES - 1 ahead of products.
template <class F, class G> __device__ __forceinline__ void each_chunk(int chunks, F copy, G product) {
    for (int chunk = 1 - STAGES; chunk < chunks; chunk++) {
        if (chunk >= 0) wait_for_chunk();
        if (chunk + STAGES - 1 < chunks) copy(chunk + STAGES - 1);
        end_of_chunk();
        if (chunk >= 0) product(chunk);
    }
}

#define PER_CHUNK (DEPTH / WIDTH)

#ifndef TO_WEIGHTS
// out[image, y, x, n] = sum over taps and channels of in * weights, plus a bias if there is one. With BACK, `in` is the
// gradient [H, W, C] of what went out, and `out` that of what came in: its places fall into stride^2 classes,
// blockIdx.z, each of which is reached by different taps.
extern "C" __global__ void __launch_bounds__(THREADS) convolution(const float* in, const float* weights, const float* bias, float* out,
        int images, int H, int W, int C, int OH, int OW, int N, int kernel, int stride, int pad) {
    const int A_STEP = DEPTH + 4, A_SIZE = ROWS * A_STEP, B_STEP = BACK ? DEPTH + 4 : COLUMNS + 8, B_SIZE = BACK ? COLUMNS * B_STEP : DEPTH * B_STEP;
    float* tiles = (float*)shared_memory;
    // The class: its places, the first tap that reaches them, and how many taps do.
    int py = BACK ? blockIdx.z / stride : 0, px = BACK ? blockIdx.z % stride : 0, apart = BACK ? stride : 1;
    int QH = (OH - py + apart - 1) / apart, QW = (OW - px + apart - 1) / apart;
    int ky0 = BACK ? (py + pad) % stride : 0, kx0 = BACK ? (px + pad) % stride : 0;
    int ny = (kernel - ky0 + apart - 1) / apart, nx = (kernel - kx0 + apart - 1) / apart;
    int rows = images * QH * QW, depth = ny * nx * C, first_row = blockIdx.x * ROWS, first_column = blockIdx.y * COLUMNS;
    if (first_row >= rows) return;
    // What this thread copies: WIDTH channels of a tap, of several rows.
    const int EACH_ROW = THREADS / PER_CHUNK, COPIES = ROWS / EACH_ROW;
    int part = threadIdx.x % PER_CHUNK, own_row = threadIdx.x / PER_CHUNK;
    int base[COPIES], y0[COPIES], x0[COPIES];
    #pragma unroll
    for (int i = 0; i < COPIES; i++) {
        int m = first_row + own_row + i * EACH_ROW;
        bool there = m < rows;
        int x = m % QW, y = m / QW % QH;
        base[i] = m / (QW * QH) * H * W;
        y0[i] = !there ? -(1 << 20) : BACK ? (y * stride + py + pad - ky0) / stride : y * stride - pad;
        x0[i] = BACK ? (x * stride + px + pad - kx0) / stride : x * stride - pad;
    }
    // Where its channels are, chunk after chunk.
    int jy = 0, jx = 0, c = part * WIDTH;
    auto move_on = [&] { while (c >= C) { c -= C; if (++jx == nx) { jx = 0; jy++; } } };
    move_on();
    auto copy_chunk = [&](int chunk) {
        float* a = tiles + chunk % STAGES * (A_SIZE + B_SIZE); float* b = a + A_SIZE;
        bool inside = jy < ny;
        #pragma unroll
        for (int i = 0; i < COPIES; i++) {
            int y = BACK ? y0[i] - jy : y0[i] + jy, x = BACK ? x0[i] - jx : x0[i] + jx;
            bool there = inside && (u32)y < (u32)H && (u32)x < (u32)W;
            const float* from = there ? in + (size_t)(base[i] + y * W + x) * C + c : in;
            copy_later(a + (own_row + i * EACH_ROW) * A_STEP + part * WIDTH, from, there);
        }
        if (BACK) { // [column, channel that went out]
            const float* from = weights + (size_t)((ky0 + stride * jy) * kernel + kx0 + stride * jx) * N * C + c;
            #pragma unroll
            for (int n = own_row; n < COLUMNS; n += EACH_ROW) {
                bool there = inside && first_column + n < N;
                copy_later(b + n * B_STEP + part * WIDTH, there ? from + (size_t)(first_column + n) * C : weights, there);
            }
        } else { // [tap and channel, column]
            #pragma unroll
            for (int i = threadIdx.x; i < DEPTH * COLUMNS / WIDTH; i += THREADS) {
                int n = i % (COLUMNS / WIDTH) * WIDTH, k = i / (COLUMNS / WIDTH), at = chunk * DEPTH + k;
                bool there = at < depth && first_column + n < N;
                copy_later(b + k * B_STEP + n, there ? weights + (size_t)at * N + first_column + n : weights, there);
            }
        }
        c += DEPTH;
        move_on();
    };
    float acc[DOWN][ACROSS][4] = {};
    each_chunk((depth + DEPTH - 1) / DEPTH, copy_chunk, [&](int chunk) {
        const float* a = tiles + chunk % STAGES * (A_SIZE + B_SIZE);
        multiply<A_STEP, 1, BACK ? 1 : B_STEP, BACK ? B_STEP : 1>(acc, a, a + A_SIZE);
    });
    hand_over(acc, first_column, N, bias, [&](int row) {
        int m = first_row + row, place = m;
        if (BACK) place = (m / (QW * QH) * OH + m / QW % QH * stride + py) * OW + m % QW * stride + px;
        return m < rows ? out + (size_t)place * N : nullptr;
    });
}
#else
// parts[blockIdx.z][tap, channel in, channel out] = sum of in * gradient over a stretch of the output's places.
extern "C" __global__ void __launch_bounds__(THREADS) convolution(const float* in, const float* gradient, float* parts,
        int images, int H, int W, int C, int OH, int OW, int N, int kernel, int stride, int pad, int chunks_each) {
    const int A_STEP = ROWS + 8, A_SIZE = DEPTH * A_STEP, B_STEP = COLUMNS + 8, B_SIZE = DEPTH * B_STEP;
    float* tiles = (float*)shared_memory;
    int rows = kernel * kernel * C, places = images * OH * OW, first_row = blockIdx.x * ROWS, first_column = blockIdx.y * COLUMNS;
    int first_chunk = blockIdx.z * chunks_each, chunks = min(chunks_each, (places + DEPTH - 1) / DEPTH - first_chunk);
    // What this thread copies of the images: WIDTH channels of a tap, at several places, which move by DEPTH.
    const int GROUPS = ROWS / WIDTH, EACH = THREADS / GROUPS, COPIES = DEPTH / EACH;
    static_assert(THREADS % GROUPS == 0 && DEPTH % EACH == 0, "every thread copies as many");
    int place = threadIdx.x / GROUPS, m = threadIdx.x % GROUPS * WIDTH, ox[COPIES], oy[COPIES], image[COPIES];
    int k = first_row + m, tap = k / C, c = k - tap * C, ky = tap / kernel, kx = tap - ky * kernel;
    #pragma unroll
    for (int i = 0; i < COPIES; i++) {
        int p = first_chunk * DEPTH + place + i * EACH;
        ox[i] = p % OW; oy[i] = p / OW % OH; image[i] = p / (OW * OH);
    }
    auto copy_chunk = [&](int chunk) {
        float* a = tiles + chunk % STAGES * (A_SIZE + B_SIZE); float* b = a + A_SIZE;
        #pragma unroll
        for (int i = 0; i < COPIES; i++) {
            int y = oy[i] * stride - pad + ky, x = ox[i] * stride - pad + kx;
            bool there = k < rows && image[i] < images && (u32)y < (u32)H && (u32)x < (u32)W;
            const float* from = there ? in + ((size_t)(image[i] * H + y) * W + x) * C + c : in;
            copy_later(a + (place + i * EACH) * A_STEP + m, from, there);
            ox[i] += DEPTH; // the chunk after this one
            while (ox[i] >= OW) { ox[i] -= OW; if (++oy[i] == OH) { oy[i] = 0; image[i]++; } }
        }
        #pragma unroll
        for (int i = threadIdx.x; i < DEPTH * COLUMNS / WIDTH; i += THREADS) {
            int n = i % (COLUMNS / WIDTH) * WIDTH, at = i / (COLUMNS / WIDTH), p = (first_chunk + chunk) * DEPTH + at;
            bool there = p < places && first_column + n < N;
            copy_later(b + at * B_STEP + n, there ? gradient + (size_t)p * N + first_column + n : gradient, there);
        }
    };
    float acc[DOWN][ACROSS][4] = {};
    each_chunk(chunks, copy_chunk, [&](int chunk) {
        const float* a = tiles + chunk % STAGES * (A_SIZE + B_SIZE);
        multiply<1, A_STEP, B_STEP, 1>(acc, a, a + A_SIZE);
    });
    float* to = parts + (size_t)blockIdx.z * rows * N;
    hand_over(acc, first_column, N, nullptr, [&](int row) { return first_row + row < rows ? to + (size_t)(first_row + row) * N : nullptr; });
}
#endif
