#!/usr/bin/env python3
"""Makes the embedded data sets from their sources.

usage: make.py DATA DIGITS
  DATA    a data folder with fashion-mnist/ and uci/ in it (see `dubio data fetch`)
  DIGITS  scikit-learn's own copy, sklearn/datasets/data/digits.csv.gz

Needs numpy only. Every file comes out with the same bytes each time.
"""
import gzip, hashlib, struct, sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
TABLES = {"yacht": "yacht", "concrete": "concrete", "wine-quality-red": "wine"}


def pack(name, data):
    (HERE / name).write_bytes(gzip.compress(data, 9, mtime=0))


def idx(array):
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def read_idx(path):
    data = gzip.decompress(path.read_bytes())
    shape = struct.unpack(f">{data[3]}I", data[4 : 4 + 4 * data[3]])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def shrink(images, side):
    """Mean over areas: a pixel of the small image is the mean of the part it covers."""
    n = images.shape[1]
    edges = np.arange(side + 1) * n / side
    cover = np.clip(np.minimum(edges[1:, None], np.arange(1, n + 1)) - np.maximum(edges[:-1, None], np.arange(n)), 0, 1)
    cover /= cover.sum(1, keepdims=True)
    return np.einsum("ai,nij,bj->nab", cover, images.astype(float), cover)


def fashion8(data):
    images = read_idx(data / "fashion-mnist/t10k-images-idx3-ubyte.gz")
    labels = read_idx(data / "fashion-mnist/t10k-labels-idx1-ubyte.gz")
    # The first hundred of every class, in the order of the file.
    rows = np.sort(np.concatenate([np.flatnonzero(labels == c)[:100] for c in range(10)]))
    small = np.floor(shrink(images[rows], 8) * 16 / 255 + 0.5).astype(np.uint8)
    pack("fashion8-images.idx3.gz", idx(small))
    pack("fashion8-labels.idx1.gz", idx(labels[rows]))


def tables(data):
    for name, folder in TABLES.items():
        source = data / "uci/standard" / folder / "data"
        text = (source / "data.txt").read_text()
        lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
        pack(f"{name}.txt.gz", ("\n".join(lines) + "\n").encode())
        halves = [[np.loadtxt(source / f"index_{half}_{i}.txt").astype("<u2") for half in ("train", "test")] for i in range(20)]
        (train,) = {len(split[0]) for split in halves}
        # Number of splits and of training rows, then the rows of each split, training rows first.
        head = np.array([20, train], "<u2").tobytes()
        pack(f"{name}.splits.gz", head + b"".join(np.concatenate(split).tobytes() for split in halves))


def checksums(data):
    """SHA-256 of every file of the benchmark that is read, in the format of sha256sum."""
    used = [p for p in sorted((data / "uci").rglob("*.txt")) if p.name.startswith(("data", "index_"))]
    lines = [f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.relative_to(data)}" for p in used]
    pack("uci.sha256.gz", ("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    data, digits = map(Path, sys.argv[1:])
    pack("digits.csv.gz", gzip.decompress(digits.read_bytes()))
    fashion8(data)
    tables(data)
    checksums(data)
