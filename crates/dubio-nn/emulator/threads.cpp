// Blocks of threads, one after the other: each thread has a stack, and runs until it waits for others. Nothing may depend on
// the order, which is that of their numbers or, if EMULATED_ORDER is `backwards`, the other way round.
#include "threads.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <utility>
#include <vector>

#include "blocks.h"

Emulated emulated;

namespace {

const size_t STACK = 128 << 10;
const unsigned MOST_THREADS = 1024;

struct Copy { char* to; const void* from; int bytes, filled; };

// What a thread has asked for and not waited for, in groups that were closed one after the other.
template <class T> struct Later {
    std::vector<T> all;
    std::vector<size_t> ends;
    void clear() { all.clear(); ends.clear(); }
    // How many come before the last `left` groups.
    size_t due(int left) const { return ends.size() > (size_t)left ? ends[ends.size() - left - 1] : 0; }
    void done(int left) {
        if (ends.size() <= (size_t)left) return;
        size_t count = due(left);
        all.erase(all.begin(), all.begin() + count);
        ends.erase(ends.begin(), ends.end() - left);
        for (size_t& end : ends) end -= count;
    }
};

// Threads that wait for one another.
struct Meeting {
    unsigned size, members, arrived, round;
    Act act;
    void* own[MOST_THREADS];
};

struct Thread {
    void* stack_pointer;
    Position at;
    Thread *next, *previous; // those of the block that have not ended, in a ring
    Meeting* meetings[KINDS];
    unsigned places[KINDS]; // among those that it meets
    Later<Copy> copies;
    Later<Product> products;
};

Thread threads[MOST_THREADS];
Thread* current;
void* outside; // the stack pointer of who started the block
char* stacks;
Meeting meetings[KINDS][MOST_THREADS / 32];
unsigned idle; // changes of threads since anything went on
const bool backwards = getenv("EMULATED_ORDER") && !strcmp(getenv("EMULATED_ORDER"), "backwards");
const Kernel* kernel;
void** arguments;
size_t shared_bytes; // that the launch asks for

const unsigned SIZES[KINDS] = {32, 128, MOST_THREADS};

// Goes on with another stack, and returns when somebody goes on with this one.
extern "C" void change_stacks(void** from, void* to);
asm(R"(
    .text
change_stacks:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");

void go_to(Thread* thread, void** from) {
    current = thread;
    emulated.threadIdx = thread->at;
    change_stacks(from, thread->stack_pointer);
}

void let_others_run() {
    if (++idle > 8 * MOST_THREADS) emulated_fail("threads wait for one another");
    Thread* own = current;
    if (own->next != own) go_to(own->next, &own->stack_pointer);
}

void finish(Meeting& m) {
    if (m.act && m.members != m.size) emulated_fail("threads act together, of which some have ended");
    if (m.act) m.act(m.own);
    m.arrived = 0;
    m.round++;
    idle = 0;
}

void body() {
    kernel->call(arguments);
    Thread* own = current;
    for (int kind = 0; kind < KINDS; kind++) {
        Meeting& m = *own->meetings[kind];
        m.members--;
        if (m.arrived && m.arrived == m.members) finish(m);
    }
    idle = 0;
    own->next->previous = own->previous;
    own->previous->next = own->next;
    if (own->next == own) {
        void* nowhere;
        change_stacks(&nowhere, outside);
    }
    go_to(own->next, &own->stack_pointer);
}

// A stack on which `body` begins.
void prepare(Thread& thread, unsigned number, unsigned count) {
    for (int kind = 0; kind < KINDS; kind++) {
        thread.meetings[kind] = &meetings[kind][number / SIZES[kind]];
        thread.places[kind] = number % SIZES[kind];
    }
    thread.at = {number % emulated.blockDim.x, number / emulated.blockDim.x % emulated.blockDim.y, number / emulated.blockDim.x / emulated.blockDim.y};
    thread.next = &threads[(number + 1) % count];
    thread.previous = &threads[(number + count - 1) % count];
    thread.copies.clear();
    thread.products.clear();
    // Not all at the same distance from one another, or they would share few lines of the cache.
    void** top = (void**)(stacks + (number + 1) * STACK - number % 64 * 320);
    *--top = nullptr; // nobody to return to; and a function begins 8 bytes off a multiple of 16
    *--top = (void*)body;
    top -= 6; // what it would have saved
    thread.stack_pointer = top;
}

void run_block(unsigned count) {
    for (int kind = 0; kind < KINDS; kind++)
        for (unsigned first = 0, i = 0; first < count; first += SIZES[kind], i++) {
            unsigned size = count - first < SIZES[kind] ? count - first : SIZES[kind];
            Meeting& m = meetings[kind][i];
            m.size = m.members = size;
            m.arrived = 0;
        }
    memset(emulated.shared, 0xff, shared_bytes); // no numbers
    for (unsigned i = 0; i < count; i++) prepare(threads[i], i, count);
    if (backwards)
        for (unsigned i = 0; i < count; i++) std::swap(threads[i].next, threads[i].previous);
    idle = 0;
    go_to(&threads[backwards ? count - 1 : 0], &outside);
}

float of_bits(uint32_t bits) { float value; memcpy(&value, &bits, 4); return value; }
float of_bf16(uint16_t bits) { return of_bits((uint32_t)bits << 16); }

// c += a b of 16 rows and 8 columns; `number(register, e)` is the e-th number in a register.
template <int DEPTH, class F> void multiply_fragments(void* const* all, F number) {
    const int EACH = DEPTH / 8; // numbers in a register
    typedef float Row __attribute__((vector_size(32)));
    float a[16][DEPTH], b[DEPTH][8], c[16][8];
    for (int lane = 0; lane < 32; lane++) {
        const Fragments& own = *(const Fragments*)all[lane];
        int g = lane / 4, t = lane % 4;
        for (int i = 0; i < 4; i++)
            for (int e = 0; e < EACH; e++) a[g + i % 2 * 8][(t + i / 2 * 4) * EACH + e] = number(own.a[i], e);
        for (int i = 0; i < 2; i++)
            for (int e = 0; e < EACH; e++) b[(t + i * 4) * EACH + e][g] = number(own.b[i], e);
    }
    for (int m = 0; m < 16; m++) {
        Row sum = {};
        for (int k = 0; k < DEPTH; k++) { Row row; memcpy(&row, b[k], sizeof row); sum += a[m][k] * row; }
        memcpy(c[m], &sum, sizeof sum);
    }
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++) *((const Fragments*)all[lane])->c[i] += c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
}

// Where a factor's number is: blocks of 128 bytes, swizzled, as its description says. Its rows are those of the tile.
const uint16_t* number_at(uint64_t factor, bool transposed, int row, int k) {
    if (factor >> 62 != 1) emulated_fail("only blocks of 128 bytes are known");
    uint32_t start = (factor & 0x3fff) * 16, next_block = (factor >> 16 & 0x3fff) * 16, next_eight = (factor >> 32 & 0x3fff) * 16;
    uint32_t at = transposed ? start + row / 64 * next_block + k / 8 * next_eight + k % 8 * 128 + row % 64 * 2
                             : start + row / 8 * next_eight + row % 8 * 128 + k * 2;
    at ^= (at >> 7 & 7) << 4;
    if (at + 2 > shared_bytes) emulated_fail("a factor lies outside of shared memory");
    return (const uint16_t*)(emulated.shared + at);
}

void multiply(void* const* all) {
    const Product* products[128];
    for (int i = 0; i < 128; i++) products[i] = (const Product*)all[i];
    const Product& p = *products[0];
    static float a[64][16], b[16][256];
    for (int k = 0; k < 16; k++) {
        for (int m = 0; m < 64; m++) a[m][k] = of_bf16(*number_at(p.a, p.transposed[0], m, k));
        for (int n = 0; n < p.columns; n++) b[k][n] = of_bf16(*number_at(p.b, p.transposed[1], n, k));
    }
    static float c[64][256];
    memset(c, 0, sizeof c);
    for (int m = 0; m < 64; m++)
        for (int k = 0; k < 16; k++)
            for (int n = 0; n < p.columns; n++) c[m][n] += a[m][k] * b[k][n];
    for (int t = 0; t < 128; t++)
        for (int n = 0; n < p.columns / 8; n++)
            for (int i = 0; i < 4; i++)
                products[t]->sums[n * 4 + i] += c[t / 32 * 16 + t % 32 / 4 + i / 2 * 8][n * 8 + t % 4 * 2 + i % 2];
}

} // namespace

void emulated_fail(const char* what) {
    fprintf(stderr, "emulated GPU: %s: %s, block %u %u %u, thread %u %u\n", kernel ? kernel->name.c_str() : "", what, emulated.blockIdx.x,
            emulated.blockIdx.y, emulated.blockIdx.z, emulated.threadIdx.x, emulated.threadIdx.y);
    abort();
}

void emulated_meet(Together kind, void* own, Act act) {
    Meeting& m = *current->meetings[kind];
    if (m.arrived && m.act != act) emulated_fail("threads that act together ask for different things");
    m.act = act;
    m.own[current->places[kind]] = own;
    if (++m.arrived == m.members) return finish(m);
    for (unsigned round = m.round; m.round == round;) let_others_run();
}

void emulated_multiply_tf32(void* const* all) {
    multiply_fragments<8>(all, [](unsigned bits, int) { return of_bits(bits & ~0x1fffu); }); // the rest is ignored
}
void emulated_multiply_bf16(void* const* all) {
    multiply_fragments<16>(all, [](unsigned bits, int e) { return of_bits(e ? bits & 0xffff0000u : bits << 16); });
}

void emulated_copy(unsigned to, const void* from, int bytes, int filled) {
    if (to % bytes || (uintptr_t)from % bytes) emulated_fail("an asynchronous copy is not aligned");
    if (to + bytes > shared_bytes) emulated_fail("an asynchronous copy ends outside of shared memory");
    current->copies.all.push_back({emulated.shared + to, from, bytes, filled});
}
void emulated_commit_copies() { current->copies.ends.push_back(current->copies.all.size()); }
void emulated_wait_for_copies(int left) {
    Later<Copy>& copies = current->copies;
    for (size_t i = 0; i < copies.due(left); i++) {
        const Copy& copy = copies.all[i];
        memcpy(copy.to, copy.from, copy.filled);
        memset(copy.to + copy.filled, 0, copy.bytes - copy.filled);
    }
    copies.done(left);
}

void emulated_product(Product product) { current->products.all.push_back(product); }
void emulated_commit_products() { current->products.ends.push_back(current->products.all.size()); }
void emulated_wait_for_products(int left) {
    Later<Product>& products = current->products;
    size_t due = products.due(left);
    for (size_t i = 0; i < due; i++) emulated_meet(FOUR_WARPS, &products.all[i], multiply);
    emulated_meet(FOUR_WARPS, nullptr, nullptr); // before anybody forgets a product that another looks at
    products.done(left);
}

void run_kernel(const Kernel& asked, Position blocks, Position of_block, size_t of_shared, void** with) {
    unsigned count = of_block.x * of_block.y * of_block.z;
    if (!stacks) {
        stacks = (char*)mmap(nullptr, MOST_THREADS * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stacks == MAP_FAILED) { perror("stacks"); abort(); }
    }
    kernel = &asked;
    arguments = with;
    emulated.gridDim = blocks;
    emulated.blockDim = of_block;
    shared_bytes = of_shared;
    std::vector<char> room(shared_bytes + 1024);
    emulated.shared = (char*)(((uintptr_t)room.data() + 1023) & ~(uintptr_t)1023);
    for (unsigned z = 0; z < blocks.z; z++)
        for (unsigned y = 0; y < blocks.y; y++)
            for (unsigned x = 0; x < blocks.x; x++) {
                emulated.blockIdx = backwards ? Position{blocks.x - 1 - x, blocks.y - 1 - y, blocks.z - 1 - z} : Position{x, y, z};
                run_block(count);
            }
}
