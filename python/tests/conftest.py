"""What the tests share."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "crates/dubio/tests/fixtures"
SHARED = ROOT.parent / "shared/data"
sys.path.append(str(ROOT / "python/scripts"))
BINARY = os.path.join(sysconfig.get_path("scripts"), "dubio")


def binary(*words):
    """What the command prints as JSON."""
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def plain(scores):
    """Scores as the command's JSON has them."""
    rows = scores.to_dict()
    for row in rows.values():
        if row["value"] is not None and np.isinf(row["value"]):
            row["value"] = "inf" if row["value"] > 0 else "-inf"
    return rows


@pytest.fixture
def example():
    """An ensemble of 4 on 200 examples of 5 classes."""
    draws = np.random.default_rng(0)
    logits = draws.normal(size=(4, 200, 5)).astype(np.float32)
    labels = logits.mean(axis=0).argmax(axis=-1)
    labels[::4] = draws.integers(0, 5, size=50)
    probs = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    return probs.astype(np.float64), labels
