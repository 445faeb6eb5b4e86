// What kernels and the device share: where a thread is, and what threads do together.
#pragma once

struct Position { unsigned x, y, z; };

// The thread that runs, and its block.
struct Emulated {
    Position threadIdx, blockIdx, blockDim, gridDim;
    char* shared; // memory that a launch asks for
};

enum Together { WARP, FOUR_WARPS, BLOCK, KINDS };

// A call for all threads together; `all` are what they brought, in their order.
typedef void (*Act)(void* const* all);

extern "C" {
extern Emulated emulated;

// Waits until all threads of this kind have called it; the last to come acts for all.
void emulated_meet(Together kind, void* own, Act act);

// What a thread of a warp has of a product on the tensor cores.
struct Fragments { float* c[4]; unsigned a[4], b[2]; };
void emulated_multiply_tf32(void* const* all);
void emulated_multiply_bf16(void* const* all);

// Asynchronous copies to shared memory, in groups. They are carried out as late as is allowed.
void emulated_copy(unsigned to, const void* from, int bytes, int filled);
void emulated_commit_copies();
void emulated_wait_for_copies(int left);

// Asynchronous products of four warps, in groups. They, too, are carried out as late as is allowed.
struct Product { float* sums; unsigned long long a, b; int columns; bool transposed[2]; };
void emulated_product(Product product);
void emulated_commit_products();
void emulated_wait_for_products(int left);

[[noreturn]] void emulated_fail(const char* what);
}
