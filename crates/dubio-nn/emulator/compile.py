"""Compiles a CUDA source for the emulated GPU: `compile.py SOURCE LIBRARY OPTION...`. See `docs/design/networks.md`.

The source is preprocessed, PTX becomes calls of `kernels.h`, and each kernel gets a function that takes pointers to its
arguments. A library that is there already is left alone: its name has a digest of what it is made of.
"""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def outside_strings(text, start=0):
    """The characters from `start` on that are in no string, with where they are."""
    i, quoted = start, False
    while i < len(text):
        if text[i] == '"':
            quoted = not quoted
        elif quoted:
            i += text[i] == "\\"
        else:
            yield i, text[i]
        i += 1


def split(text, separator):
    """Cuts a text at separators that are in no brackets and no string."""
    parts, depth, start = [], 0, 0
    for i, c in outside_strings(text):
        depth += (c in "([{") - (c in ")]}")
        if c == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def closing(text, start):
    """Where the bracket that opens at `start` is closed."""
    depth = 0
    for i, c in outside_strings(text, start):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i
    raise SystemExit("a bracket is never closed")


def call(instruction, operands):
    """The call that stands for an instruction."""
    listed = ", ".join(operands)
    plain = {
        "cvt.rna.tf32.f32 ": f"ptx_tf32({listed})",
        "cvt.rn.bf16x2.f32 ": f"ptx_two_bf16({listed})",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 ": f"ptx_mma_tf32({listed})",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 ": f"ptx_mma_bf16({listed})",
        "cp.async.commit_group;": "emulated_commit_copies()",
        "cp.async.wait_group %0;": f"emulated_wait_for_copies({listed})",
        # Copies are seen by the instructions that need this fence anyway, and so are registers.
        "fence.proxy.async.shared::cta;": "(void)0",
        "wgmma.fence.sync.aligned;": "(void)0",
        "wgmma.commit_group.sync.aligned;": "emulated_commit_products()",
    }
    for start, known in plain.items():
        if instruction.startswith(start):
            return known
    if found := re.fullmatch(r"cp\.async\.c[ag]\.shared\.global \[%0\], \[%1\], (\d+), %2;", instruction):
        to, source, filled = operands
        return f"emulated_copy({to}, {source}, {found[1]}, {filled})"
    if found := re.fullmatch(r"wgmma\.wait_group\.sync\.aligned (\d+);", instruction):
        return f"emulated_wait_for_products({found[1]})"
    product = r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k16\.f32\.bf16\.bf16 .*, p, 1, 1, (\d), (\d); }"
    if found := re.search(product, instruction):
        columns, left, right = found.groups()
        return f"emulated_product({{&{operands[0]}, {operands[-2]}, {operands[-1]}, {columns}, {{{left}, {right}}}}})"
    raise SystemExit(f"the emulated GPU has no {instruction}")


def without_ptx(text):
    """A source with calls in place of `asm` statements."""
    parts, start = [], 0
    for found in re.finditer(r"\basm\s*(volatile)?\s*\(", text):
        end = closing(text, found.end() - 1)
        fields = split(text[found.end() : end], ":")
        instruction = "".join(re.findall(r'"([^"]*)"', fields[0]))
        operands = [one.strip() for field in fields[1:3] for one in split(field, ",") if one.strip()]
        operands = [one[one.index("(") + 1 : -1] for one in operands]
        parts += [text[start : found.start()], call(instruction, operands)]
        start = end + 1
    return "".join([*parts, text[start:]])


def without_bounds(text):
    """A source that does not say how many threads a kernel has."""
    while (start := text.find("__launch_bounds__")) >= 0:
        text = text[:start] + text[closing(text, text.index("(", start)) + 1 :]
    return text


def translated(text):
    text = without_bounds(without_ptx(text))
    # Memory that a launch asks for: its place is known when it is launched.
    text = re.sub(r"extern __shared__ (?:__align__\(\d+\) )?([\w ]+?) (\w+)\[\];", r"\n#define \2 ((\1*)emulated.shared)\n", text)
    names = re.findall(r'extern "C" __global__ void\s+(\w+)\(', text)
    calls = "".join(
        f'extern "C" void call_{name}(void** arguments) {{ call_kernel({name}, arguments); }}\n'
        f'extern "C" int arguments_of_{name}() {{ return arguments_of({name}); }}\n'
        for name in names
    )
    return f'#include "{HERE}/kernels.h"\n{text}\n{calls}'


def main():
    source, library, *options = sys.argv[1:]
    if os.path.exists(library):
        return
    own = ["-w", "-std=c++17", "-x", "c++"]
    text = subprocess.run(["g++", *own, "-E", "-P", *options, source], check=True, capture_output=True, text=True).stdout
    made, emulator = f"{library}.{os.getpid()}", pathlib.Path(library).parent.parent / "libcuda.so"
    compiler = ["g++", *own, "-O2", "-march=x86-64-v3", "-ffp-contract=off", "-fPIC", "-shared", "-o", made, "-", "-x", "none", emulator]
    subprocess.run(compiler, input=translated(text), check=True, text=True)
    os.rename(made, library)


main()
