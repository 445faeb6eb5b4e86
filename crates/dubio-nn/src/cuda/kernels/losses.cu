// Batches, losses and their gradients at the outputs.

// What differs from step to step lies on the device, so that a step can be replayed: the place of its first example
// in the order, and where its mean loss goes. The kernel that works out the mean loss reads them last, and moves them
// on.
struct Step { u64 start, slot; };

// Rows of a matrix, those that `order` names or one after the other.
__device__ long long row_of(const u32* order, long long start, long long b) { return order ? order[start + b] : start + b; }
extern "C" __global__ void gather(const float* data, const u32* order, const Step* step, float* x, int size, long long n) {
    EACH(i, n) { u32 b = i / (u32)size; x[i] = data[row_of(order, step->start, b) * size + i % (u32)size]; }
}
// The same for images that are moved, and mirrored where the step is -1.
struct Move { int down, right, step; };
extern "C" __global__ void gather_moved(const float* data, const u32* order, const Step* step, float* out, const Move* moves, const float* edge, int H, int W, int C, long long n) {
    EACH(i, n) {
        u32 t = i;
        int c = t % (u32)C; t /= (u32)C;
        int x = t % (u32)W; t /= (u32)W;
        int y = t % (u32)H, b = t / (u32)H;
        Move m = moves[b];
        y += m.down; x = m.right + m.step * x;
        bool inside = y >= 0 && y < H && x >= 0 && x < W;
        out[i] = inside ? data[((row_of(order, step->start, b) * H + y) * W + x) * C + c] : edge[c];
    }
}

// The mean of a batch's losses, by one block, which then moves on to the next step.
__device__ void end_of_step(const double* losses, double* means, Step* step, int batch) {
    double sum = 0;
    for (int b = threadIdx.x; b < batch; b += blockDim.x) sum += losses[b];
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        means[step->slot++] = sum / batch;
        step->start += batch;
    }
}
extern "C" __global__ void mean_loss(const double* losses, double* means, Step* step, int batch) { end_of_step(losses, means, step, batch); }

// The sums of the columns of what this block, which is alone, has just written, in a fixed order; if there is a place for them.
__device__ void sum_columns(const float* seed, float* sums, int columns, int rows) {
    if (!sums) return;
    __syncthreads();
    int lane = threadIdx.x % 32;
    for (int c = threadIdx.x / 32; c < columns; c += blockDim.x / 32) {
        float sum = 0;
        for (int b = lane; b < rows; b += 32) sum += seed[b * columns + c];
        for (int k = 16; k; k >>= 1) sum += __shfl_xor_sync(~0u, sum, k);
        if (lane == 0) sums[c] = sum;
    }
}

// Cross-entropy of the softmax, a thread for each example: its loss, and the gradient of the mean. One block alone also ends
// the step, if there is a place for the mean loss.
extern "C" __global__ void cross_entropy(const float* out, const u32* labels, const u32* order, Step* step, float* seed, float* sums, double* losses, double* means, int classes, int batch) {
    EACH(b, batch) {
        const float* row = out + b * classes; float* grad = seed + b * classes;
        float top = row[0];
        for (int k = 1; k < classes; k++) top = fmaxf(top, row[k]);
        float z = 0;
        for (int k = 0; k < classes; k++) { float e = expf(row[k] - top); grad[k] = e; z += e; }
        u32 label = labels[row_of(order, step->start, b)];
        float scale = (1.f / batch) / z;
        for (int k = 0; k < classes; k++) grad[k] *= scale;
        grad[label] -= 1.f / batch;
        losses[b] = log((double)z) + (double)(top - row[label]);
    }
    sum_columns(seed, sums, classes, batch);
    if (means) end_of_step(losses, means, step, batch);
}
// Negative log density of Normal(m, s^2), with outputs m and log s; log s beyond the bounds changes nothing.
extern "C" __global__ void gaussian(const float* out, const double* targets, const u32* order, Step* step, float* seed, float* sums, double* losses, double* means, double bound, int batch) {
    EACH(b, batch) {
        double mean = out[2 * b], output = out[2 * b + 1], log_std = fmin(fmax(output, -bound), bound);
        double inverse = exp(-log_std), z = (targets[row_of(order, step->start, b)] - mean) * inverse, weight = 1.0 / batch;
        seed[2 * b] = (float)(-weight * z * inverse);
        seed[2 * b + 1] = (float)(log_std == output ? weight * (1.0 - z * z) : 0.0);
        losses[b] = 0.5 * z * z + log_std + 0.91893853320467274178;
    }
    sum_columns(seed, sums, 2, batch);
    if (means) end_of_step(losses, means, step, batch);
}
// The gradient of -weight log softmax(outputs)[label], each example with its own.
extern "C" __global__ void weighted_cross_entropy(const float* out, const u32* labels, const double* weights, float* seed, int classes, int batch) {
    EACH(b, batch) {
        const float* row = out + b * classes;
        double top = row[0], z = 0;
        for (int k = 1; k < classes; k++) top = fmax(top, (double)row[k]);
        for (int k = 0; k < classes; k++) z += exp((double)row[k] - top);
        double total = top + log(z);
        for (int k = 0; k < classes; k++) seed[b * classes + k] = (float)(weights[b] * (exp((double)row[k] - total) - (k == labels[b] ? 1.0 : 0.0)));
    }
}
