"""Time and memory of `dubio evaluate` and `dubio compare` by the number of examples and of classes.

    cargo build --release && python3 benches/rows.py [--most 10000000]

Needs numpy. Prints Markdown tables: wall seconds, processor seconds and peak memory of the whole process.
"""

import argparse
import multiprocessing
import os
import subprocess
import tempfile
import time

import numpy as np

DUBIO = os.path.join(os.path.dirname(__file__), "..", "target", "release", "dubio")


def click(path, examples, seed):
    """A click model: two classes, one member, one click in six, a little noise on the logit."""
    rng = np.random.default_rng(0)
    logit = rng.normal(-2, 1.3, examples)
    labels = (rng.random(examples) < 1 / (1 + np.exp(-logit))).astype(np.uint8)
    logits = np.zeros((1, examples, 2), np.float32)
    logits[0, :, 1] = logit + np.random.default_rng(seed).normal(0, 0.3, examples)
    np.savez(path, logits=logits, labels=labels)


def wide(path, classes):
    rng = np.random.default_rng(1)
    np.savez(path, logits=rng.normal(size=(1, 5, classes)).astype(np.float32), labels=np.arange(5))


def make(maker, *arguments):
    """In a process of its own: a child's peak memory begins with that of its parent."""
    process = multiprocessing.Process(target=maker, args=arguments)
    process.start()
    process.join()


def run(*arguments):
    start = time.monotonic()
    process = subprocess.Popen([DUBIO, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, arguments
    wall = time.monotonic() - start
    return f"{wall:.2f} / {usage.ru_utime + usage.ru_stime:.2f} / {usage.ru_maxrss // 1000}"


def row(head, cells):
    print("| " + " | ".join([head, *cells]) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=10_000_000)
    most = parser.parse_args().most
    with tempfile.TemporaryDirectory() as folder:
        a, b = (os.path.join(folder, name) for name in ("a.npz", "b.npz"))
        row("examples, 2 classes", ["scores", "with intervals", "`compare` of two"])
        row("---:", ["---:"] * 3)
        for examples in (10_000, 100_000, 1_000_000, 5_000_000, 10_000_000):
            if examples > most:
                break
            make(click, a, examples, 1)
            make(click, b, examples, 2)
            size = os.path.getsize(a) / 1e6
            cells = [run("evaluate", a, "--json", "--no-intervals"), run("evaluate", a, "--json")]
            row(f"{examples:,} ({size:.1f} MB)", [*cells, run("compare", a, b, "--json")])
        print()
        row("classes, 5 examples", ["scores", "with intervals"])
        row("---:", ["---:"] * 2)
        for classes in (10_000, 100_000, 1_000_000):
            make(wide, a, classes)
            size = os.path.getsize(a) / 1e6
            cells = [run("evaluate", a, "--json", "--no-intervals"), run("evaluate", a, "--json")]
            row(f"{classes:,} ({size:.1f} MB)", cells)


main()
