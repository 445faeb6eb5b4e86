// NVIDIA's driver, NVRTC and cuBLAS, as far as the engine calls them, for a GPU that is emulated by this machine's processor.
// Whatever is asked of a stream is done at once, or recorded. Names and numbers are those of NVIDIA's interfaces.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "blocks.h"

namespace {

enum { DONE = 0, WRONG_VALUE = 1, NO_MEMORY = 2, NOT_FOUND = 500 };

const size_t MEMORY = 16ull << 30, PAGE = 4096;
const size_t SHARED_WITHOUT_ASKING = 48 << 10, SHARED_AT_MOST = 227 << 10;
const unsigned MOST_BLOCKS_ASIDE = 65535; // in the second and third direction

using Work = std::function<void()>;
struct Stream { bool records = false; std::vector<Work> recorded; };
struct Graph { std::vector<Work> work; };
struct Handle { Stream* stream = nullptr; };
struct Program { std::string source, text; };

std::mutex own; // one thing at a time, as there is one emulated block
std::map<uint64_t, size_t> allocations;
size_t used = 0;

int ask(Stream* stream, Work work) {
    if (stream && stream->records) { stream->recorded.push_back(std::move(work)); return DONE; }
    std::lock_guard<std::mutex> lock(own);
    work();
    return DONE;
}

size_t pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

// Memory whose end is the end of a page, as near as alignment allows, behind which there is none: who reads or writes beyond
// it is stopped. It is full of what is no number.
int allocate(uint64_t* to, size_t bytes) {
    std::lock_guard<std::mutex> lock(own);
    bytes = (std::max(bytes, (size_t)1) + 15) / 16 * 16;
    if (used + bytes > MEMORY) return NO_MEMORY;
    size_t all = pages(bytes);
    char* start = (char*)mmap(nullptr, all + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return NO_MEMORY;
    mprotect(start + all, PAGE, PROT_NONE);
    *to = (uint64_t)(start + all - bytes);
    memset((void*)*to, 0xff, bytes);
    allocations[*to] = bytes;
    used += bytes;
    return DONE;
}

int release(uint64_t place) {
    std::lock_guard<std::mutex> lock(own);
    auto found = allocations.find(place);
    if (found == allocations.end()) return place ? WRONG_VALUE : DONE;
    size_t all = pages(found->second);
    munmap((char*)(place + found->second - all), all + PAGE);
    used -= found->second;
    allocations.erase(found);
    return DONE;
}

// Where this library is. What it compiles lies beside it.
std::string folder_of_library() {
    Dl_info info;
    dladdr((void*)folder_of_library, &info);
    std::string path = info.dli_fname;
    return path.substr(0, path.rfind('/'));
}

void write_file(const std::string& path, const std::string& text) {
    std::string made = path + "." + std::to_string(getpid()) + "." + std::to_string((uint64_t)pthread_self());
    FILE* file = fopen(made.c_str(), "w");
    if (!file || fwrite(text.data(), 1, text.size(), file) != text.size()) { perror(made.c_str()); abort(); }
    fclose(file);
    rename(made.c_str(), path.c_str());
}

// The number as cuBLAS's faster kinds of multiplying see it.
float rounded(float x, int compute) {
    const int TF32 = 77, BF16 = 75; // CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_16BF
    int dropped = compute == TF32 ? 13 : compute == BF16 ? 16 : 0;
    if (!dropped) return x;
    uint32_t bits;
    memcpy(&bits, &x, 4);
    bits = (bits + (1u << (dropped - 1))) >> dropped << dropped;
    memcpy(&x, &bits, 4);
    return x;
}

} // namespace

extern "C" {

int cuInit(unsigned) { return DONE; }
int cuDriverGetVersion(int* version) { *version = 13000; return DONE; }
int cuDeviceGetCount(int* count) { *count = 1; return DONE; }
int cuDeviceGet(int* device, int ordinal) { *device = ordinal; return ordinal ? WRONG_VALUE : DONE; }
int cuDeviceGetName(char* name, int length, int) { snprintf(name, length, "emulated GPU"); return DONE; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
    const int MAJOR = 75, MEMORY_POOLS = 115; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, ..._MEMORY_POOLS_SUPPORTED
    const char* major = getenv("EMULATED_CAPABILITY"); // 8 or 9
    *value = attribute == MAJOR ? (major ? atoi(major) : 9) : attribute == MEMORY_POOLS;
    return DONE;
}
int cuDevicePrimaryCtxRetain(void** context, int) { *context = &own; return DONE; }
int cuDevicePrimaryCtxRelease_v2(int) { return DONE; }
int cuCtxSetCurrent(void*) { return DONE; }
int cuCtxGetCurrent(void** context) { *context = &own; return DONE; }
int cuDeviceGetDefaultMemPool(void** pool, int) { *pool = &own; return DONE; }
int cuMemPoolSetAttribute(void*, int, void*) { return DONE; }
int cuMemGetInfo_v2(size_t* free, size_t* total) { *free = MEMORY - used; *total = MEMORY; return DONE; }
int cuGetErrorName(int code, const char** name) {
    *name = code == NO_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : code == WRONG_VALUE ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR";
    return DONE;
}
int cuGetErrorString(int code, const char** text) { return cuGetErrorName(code, text); }

int cuStreamCreate(Stream** stream, unsigned) { *stream = new Stream; return DONE; }
int cuStreamDestroy_v2(Stream* stream) { delete stream; return DONE; }
int cuStreamSynchronize(Stream*) { return DONE; }
int cuStreamBeginCapture_v2(Stream* stream, int) { stream->records = true; return DONE; }
int cuStreamEndCapture(Stream* stream, Graph** graph) {
    *graph = new Graph{std::move(stream->recorded)};
    stream->records = false;
    stream->recorded.clear();
    return DONE;
}
int cuGraphInstantiateWithFlags(Graph** whole, Graph* graph, unsigned long long) { *whole = new Graph(*graph); return DONE; }
int cuGraphDestroy(Graph* graph) { delete graph; return DONE; }
int cuGraphExecDestroy(Graph* graph) { delete graph; return DONE; }
int cuGraphLaunch(Graph* graph, Stream* stream) {
    return ask(stream, [graph] { for (const Work& work : graph->work) work(); });
}

int cuMemAlloc_v2(uint64_t* place, size_t bytes) { return allocate(place, bytes); }
int cuMemAllocAsync(uint64_t* place, size_t bytes, Stream*) { return allocate(place, bytes); }
int cuMemFree_v2(uint64_t place) { return release(place); }
int cuMemFreeAsync(uint64_t place, Stream*) { return release(place); }
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, Stream* stream) {
    return ask(stream, [=] { memmove((void*)to, (void*)from, bytes); });
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, Stream* stream) { return ask(stream, [=] { memcpy((void*)to, from, bytes); }); }
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, Stream* stream) { return ask(stream, [=] { memcpy(to, (void*)from, bytes); }); }
int cuMemsetD8Async(uint64_t place, unsigned char value, size_t bytes, Stream* stream) { return ask(stream, [=] { memset((void*)place, value, bytes); }); }

// Programs are compiled when they are loaded, since a test compiles many more than are run.
int cuModuleLoadData(void** module, const void* text) {
    std::string path = (const char*)text, library = path + ".so";
    std::string command = "python3 '" EMULATOR_SOURCE "/compile.py' '" + path + ".cu' '" + library + "' $(cat '" + path + ".options') >&2";
    if (system(command.c_str()) != 0) return WRONG_VALUE;
    *module = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!*module) fprintf(stderr, "emulated GPU: %s\n", dlerror());
    return *module ? DONE : WRONG_VALUE;
}
int cuModuleGetFunction(Kernel** kernel, void* module, const char* name) {
    std::string own_name = name;
    auto call = (void (*)(void**))dlsym(module, ("call_" + own_name).c_str());
    auto arguments = (int (*)())dlsym(module, ("arguments_of_" + own_name).c_str());
    if (!call) return NOT_FOUND;
    *kernel = new Kernel{own_name, call, arguments(), SHARED_WITHOUT_ASKING};
    return DONE;
}
int cuFuncSetAttribute(Kernel* kernel, int attribute, int value) {
    const int MOST_SHARED_BYTES = 8; // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    if (attribute != MOST_SHARED_BYTES || (size_t)value > SHARED_AT_MOST) return WRONG_VALUE;
    kernel->most_shared_bytes = value;
    return DONE;
}
int cuLaunchKernel(Kernel* kernel, unsigned x, unsigned y, unsigned z, unsigned across, unsigned down, unsigned deep, unsigned shared_bytes,
                   Stream* stream, void** arguments, void**) {
    size_t threads = (size_t)across * down * deep;
    if (!x || !y || !z || y > MOST_BLOCKS_ASIDE || z > MOST_BLOCKS_ASIDE || !threads || threads > 1024 || shared_bytes > kernel->most_shared_bytes)
        return WRONG_VALUE;
    // Every argument of the engine lies in 8 bytes.
    std::vector<uint64_t> kept;
    for (int i = 0; i < kernel->arguments; i++) kept.push_back(*(uint64_t*)arguments[i]);
    return ask(stream, [=] {
        std::vector<void*> pointers;
        for (const uint64_t& argument : kept) pointers.push_back((void*)&argument);
        run_kernel(*kernel, {x, y, z}, {across, down, deep}, shared_bytes, pointers.data());
    });
}

// A program's "PTX" is where its source is.
int nvrtcCreateProgram(Program** program, const char* source, const char*, int, const char* const*, const char* const*) { *program = new Program{source, ""}; return 0; }
int nvrtcDestroyProgram(Program** program) { delete *program; return 0; }
int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
    std::string all, folder = folder_of_library();
    for (int i = 0; i < count; i++) {
        std::string option = options[i], define = "--define-macro=";
        if (option.compare(0, define.size(), define) == 0) all += " -D" + option.substr(define.size());
    }
    char name[32];
    snprintf(name, sizeof name, "%016zx", std::hash<std::string>()(program->source + all));
    program->text = folder + "/programs/" + name;
    mkdir((folder + "/programs").c_str(), 0777);
    write_file(program->text + ".cu", program->source);
    write_file(program->text + ".options", all);
    return 0;
}
int nvrtcGetPTXSize(Program* program, size_t* size) { *size = program->text.size() + 1; return 0; }
int nvrtcGetPTX(Program* program, char* text) { memcpy(text, program->text.c_str(), program->text.size() + 1); return 0; }

int cublasCreate_v2(Handle** handle) { *handle = new Handle; return 0; }
int cublasDestroy_v2(Handle* handle) { delete handle; return 0; }
int cublasGetVersion_v2(Handle*, int* version) { *version = 130000; return 0; }
int cublasSetStream_v2(Handle* handle, Stream* stream) { handle->stream = stream; return 0; }
int cublasSetWorkspace_v2(Handle*, void*, size_t) { return 0; }
// Of matrices in f32 whose columns lie one after the other.
int cublasGemmEx(Handle* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, int, int lda, const void* b, int, int ldb,
                 const void* beta, void* c, int, int ldc, int compute, int) {
    float scale = *(const float*)alpha, kept = *(const float*)beta;
    const float *left = (const float*)a, *right = (const float*)b;
    return ask(handle->stream, [=] {
        std::vector<double> column(m);
        for (int j = 0; j < n; j++) {
            std::fill(column.begin(), column.end(), 0.0);
            for (int l = 0; l < k; l++) {
                double factor = rounded(op_b ? right[j + (size_t)l * ldb] : right[l + (size_t)j * ldb], compute);
                for (int i = 0; i < m; i++) column[i] += rounded(op_a ? left[l + (size_t)i * lda] : left[i + (size_t)l * lda], compute) * factor;
            }
            float* to = (float*)c + (size_t)j * ldc;
            for (int i = 0; i < m; i++) to[i] = scale * (float)column[i] + (kept ? kept * to[i] : 0.f);
        }
    });
}

} // extern "C"
