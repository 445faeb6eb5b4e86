// Products of small matrices, c = a b, on the tensor cores. A block of threads works out a tile of 32 x 32. Its warps share the
// depth: each takes a chunk of 16 in turn, and holds sums of the whole tile, which are added up in the order of the warps. So a
// product of a long depth, too, has enough threads, in one kernel and in an order that depends on the sizes alone.

#define SIDE 32
#define CHUNK 16

// Which of the 32 rows of a factor a thread's `i`-th is, of four. A factor lies along the depth, or its rows do.
template <bool ALONG> __device__ __forceinline__ int row_of_four(int i, int g) { return ALONG ? 8 * i + g : 4 * g + i; }

// Four by four numbers of a chunk of a factor, [row][depth], for each thread of a warp: zeros beyond its ends. Four neighbours
// in memory are copied at once where they all can be.
template <bool ALONG>
__device__ __forceinline__ void take(float (*v)[4], const float* x, int first, int rows, int start, int depth, bool by_fours) {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int lines = ALONG ? rows : depth, width = ALONG ? depth : rows, at = ALONG ? start + 4 * t : first + 4 * g;
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        int line = ALONG ? first + row_of_four<true>(i, g) : start + 4 * t + i;
        const float* from = x + (long long)line * width + at;
        float4 four = make_float4(0.f, 0.f, 0.f, 0.f);
        if (line < lines && by_fours && at < width) four = *(const float4*)from;
        if (line < lines && !by_fours) {
            if (at < width) four.x = from[0];
            if (at + 1 < width) four.y = from[1];
            if (at + 2 < width) four.z = from[2];
            if (at + 3 < width) four.w = from[3];
        }
        float n[4] = {four.x, four.y, four.z, four.w};
        #pragma unroll
        for (int k = 0; k < 4; k++) (ALONG ? v[i][k] : v[k][i]) = n[k];
    }
}

// acc += x y^T of a chunk, whose depths are taken in the same order in both.
__device__ __forceinline__ void multiply_chunk(float (*acc)[4][4], float (*x)[4], float (*y)[4]) {
    #pragma unroll
    for (int k = 0; k < 4; k += 2) {
        u32 right[4][2], low_right[4][2];
        #pragma unroll
        for (int j = 0; j < 4; j++)
            #pragma unroll
            for (int e = 0; e < 2; e++) {
                right[j][e] = high_tf32(y[j][k + e]);
                if (PRECISION == 0) low_right[j][e] = low_tf32(y[j][k + e], right[j][e]);
            }
        #pragma unroll
        for (int i = 0; i < 2; i++) {
            u32 left[4], low_left[4];
            #pragma unroll
            for (int e = 0; e < 4; e++) {
                float number = x[2 * i + e % 2][k + e / 2];
                left[e] = high_tf32(number);
                if (PRECISION == 0) low_left[e] = low_tf32(number, left[e]);
            }
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                if (PRECISION == 0) { multiply_tf32(acc[i][j], low_left, right[j]); multiply_tf32(acc[i][j], left, low_right[j]); }
                multiply_tf32(acc[i][j], left, right[j]);
            }
        }
    }
}

// c = a b + biases, and the activation of that, where there are places for them. `fours` says which factors can be copied by
// fours: 1 for a, 2 for b.
template <bool A_ALONG, bool B_ALONG>
__device__ __forceinline__ void small_product(const float* a, const float* b, float* c, const float* biases, int kind, float* out, int rows, int columns, int depth, int fours) {
    extern __shared__ float parts[];
    const int width = B_ALONG ? SIDE + 8 : SIDE + 1; // fewer of a warp's threads then write to the same bank
    int warp = threadIdx.x / 32, warps = blockDim.x / 32, row = blockIdx.y * SIDE, column = blockIdx.x * SIDE;
    float acc[2][4][4] = {}, x[4][4] = {}, y[4][4] = {};
    // Copies are a chunk ahead of products.
    #pragma unroll 1
    for (int start = (warp - warps) * CHUNK; start < depth; start += warps * CHUNK) {
        float next_x[4][4], next_y[4][4];
        take<A_ALONG>(next_x, a, row, rows, start + warps * CHUNK, depth, fours & 1);
        take<B_ALONG>(next_y, b, column, columns, start + warps * CHUNK, depth, fours & 2);
        if (start >= 0) multiply_chunk(acc, x, y);
        #pragma unroll
        for (int i = 0; i < 16; i++) { x[i / 4][i % 4] = next_x[i / 4][i % 4]; y[i / 4][i % 4] = next_y[i / 4][i % 4]; }
    }
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    float* own = parts + warp * SIDE * width;
    #pragma unroll
    for (int i = 0; i < 2; i++)
        #pragma unroll
        for (int j = 0; j < 4; j++)
            #pragma unroll
            for (int e = 0; e < 4; e++)
                own[row_of_four<A_ALONG>(2 * i + e / 2, g) * width + row_of_four<B_ALONG>(j, 2 * t + e % 2)] = acc[i][j][e];
    __syncthreads();
    for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
        int m = i / SIDE, n = i % SIDE;
        if (row + m >= rows || column + n >= columns) continue;
        float sum = 0;
        for (int w = 0; w < warps; w++) sum += parts[(w * SIDE + m) * width + n];
        if (biases) sum += biases[column + n];
        long long at = (long long)(row + m) * columns + column + n;
        c[at] = sum;
        if (out) out[at] = activated(kind, sum);
    }
}
#define PRODUCT(name, a_along, b_along) \
    extern "C" __global__ void name(const float* a, const float* b, float* c, const float* biases, int kind, float* out, int rows, int columns, int depth, int fours) { \
        small_product<a_along, b_along>(a, b, c, biases, kind, out, rows, columns, depth, fours); \
    }
PRODUCT(product, true, false)
PRODUCT(product_right_transposed, true, true)
PRODUCT(product_left_transposed, false, false)
