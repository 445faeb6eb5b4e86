#!/usr/bin/env python3
"""Times posterior predictive checks: `dubio check` beside plain numpy, in one run.

    python check.py target/release/dubio [REPEATS]

Needs numpy (`run.sh` installs it). `[50, 10000, 10]` float32 logits, 1000 replicates of ece and
accuracy, bayesian. Numpy in two forms. `literal` is the algorithm as published (Gopal 2021,
algorithm 2): the function ECE is handed the ensemble and averages it; it is timed on 20 replicates and
scaled. `hoisted` is what one writes on second thoughts: the average, the prediction and the
confidence are worked out once, and only labels are drawn and scored. Times are of whole processes for
dubio, and without imports and reading for numpy: on the clock, and of the processors, which a busy
machine does not change. Both must find the same p-values, up to chance.
"""
import json, os, subprocess, sys, tempfile, time
from pathlib import Path

import numpy as np

binary = sys.argv[1]
repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
M, N, C, K, BINS = 50, 10_000, 10, 1000, 15


def generate(path):
    """Members that agree in part; labels of one of them, so that the checks pass."""
    rng = np.random.default_rng(0)
    shared = 3 * rng.standard_normal((N, C), dtype=np.float32)
    logits = shared + rng.standard_normal((M, N, C), dtype=np.float32)
    p = softmax(logits[7])
    labels = (p.cumsum(1) > rng.random((N, 1))).argmax(1)
    np.savez(path, logits=logits, labels=labels)
    return logits, labels


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def ece_and_accuracy(confidence, predicted, labels):
    correct = predicted == labels
    edges = np.linspace(0, 1, BINS + 1)
    ece = 0.0
    for low, high in zip(edges[:-1], edges[1:]):
        inside = (confidence > low) & (confidence <= high)
        if inside.any():
            ece += inside.mean() * abs(correct[inside].mean() - confidence[inside].mean())
    return ece, correct.mean()


def literal(logits, labels, rng, count):
    def scores(labels):
        p = softmax(logits).mean(0)
        return ece_and_accuracy(p.max(1), p.argmax(1), labels)
    replicates = []
    for _ in range(count):
        member = softmax(logits[rng.integers(M)])
        replicates.append(scores((member.cumsum(1) > rng.random((N, 1))).argmax(1)))
    return scores(labels), np.array(replicates)


def hoisted(logits, labels, rng, count):
    p = softmax(logits)
    mean, tables = p.mean(0), p.cumsum(2)
    confidence, predicted = mean.max(1), mean.argmax(1)
    replicates = []
    for _ in range(count):
        drawn = (tables[rng.integers(M)] > rng.random((N, 1))).argmax(1)
        replicates.append(ece_and_accuracy(confidence, predicted, drawn))
    return ece_and_accuracy(confidence, predicted, labels), np.array(replicates)


def timed(work):
    def clocks():
        own = os.times()
        return np.array([time.perf_counter(), own.user + own.system + own.children_user + own.children_system])
    start = clocks()
    result = work()
    return clocks() - start, result


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "preds.npz"
    logits, labels = generate(path)
    command = [binary, "check", path, "--statistic", "ece", "--statistic", "accuracy", "--json"]
    run = lambda: json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    run()
    times = {"dubio": [], "hoisted": [], "literal": []}
    for _ in range(repeats):
        seconds, ours = timed(run)
        times["dubio"].append(seconds)
        seconds, (observed, theirs) = timed(lambda: hoisted(logits, labels, np.random.default_rng(1), K))
        times["hoisted"].append(seconds)
        seconds, _ = timed(lambda: literal(logits, labels, np.random.default_rng(1), 20))
        times["literal"].append(seconds * K / 20)

for s, name in enumerate(["ece", "accuracy"]):
    own = ours["statistics"][name]
    p = (theirs[:, s] < observed[s]).mean()
    assert abs(own["observed"] - observed[s]) < 1e-6, (own, observed[s])
    assert abs(own["p_value"] - p) < 0.1, (own, p)
    print(f"{name}: observed {own['observed']:.5f}; p_value dubio {own['p_value']:.3f}, numpy {p:.3f}")
medians = {name: np.median(seconds, axis=0) for name, seconds in times.items()}
for name, (wall, cpu) in medians.items():
    ratios = medians[name] / medians["dubio"]
    print(f"{name:8} {wall:8.3f} s on the clock, {ratios[0]:6.1f} times dubio; {cpu:8.3f} s of processors, {ratios[1]:6.1f} times")
