// Kernels, and how they are run.
#pragma once

#include <cstddef>
#include <string>

#include "threads.h"

struct Kernel {
    std::string name;
    void (*call)(void** arguments);
    int arguments;
    size_t most_shared_bytes;
};

void run_kernel(const Kernel& kernel, Position blocks, Position of_block, size_t shared_bytes, void** arguments);
