#!/usr/bin/env python3
"""Seconds per posterior sample of every method on MNIST, beside PyTorch running the same rule.

    python methods.py target/release/dubio DATA_FOLDER [REPEATS]

Needs torch (`run.sh` installs it) and MNIST below DATA_FOLDER. An MLP 784-200-200-10, batches of 128
out of memory, all cores. Both sides run each rule for a few epochs or draws, one after the other; what a
sample takes of them follows from the settings of Vadera et al. 2020, appendix D, 100 samples. Run it on
a quiet machine: PyTorch's threads spin.
"""
import gzip, json, os, statistics, subprocess, sys, tempfile, time

import numpy as np, torch, torch.nn.functional as F

binary, folder = sys.argv[1:3]
repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 5
torch.set_num_threads(os.cpu_count())
torch.manual_seed(0)
N, BATCH, RATE = 60_000, 128, 0.01


def pixels(name):
    with gzip.open(os.path.join(folder, "mnist", name)) as file:
        return np.frombuffer(file.read(), np.uint8)


x = torch.tensor(pixels("train-images-idx3-ubyte.gz")[16:].reshape(N, 784).astype(np.float32))
x = (x - x.mean()) / x.std()
y = torch.tensor(pixels("train-labels-idx1-ubyte.gz")[8:].astype(np.int64))
test = torch.tensor(pixels("t10k-images-idx3-ubyte.gz")[16:].reshape(10_000, 784).astype(np.float32))


def start():
    sizes = [784, 200, 200, 10]
    weights = [torch.randn(o, i) * (2 / i) ** 0.5 for i, o in zip(sizes, sizes[1:])]
    return [t.requires_grad_() for w in weights for t in (w, torch.zeros(len(w)))]


def forward(p, x, noise=None):
    for layer in range(3):
        if layer and noise == "dropout":
            x = F.dropout(x, 0.04)
        if layer and noise == "gaussian":
            x = x * (1 + torch.randn_like(x) * (0.04 / 0.96) ** 0.5)
        x = F.linear(x, p[2 * layer], p[2 * layer + 1])
        x = F.relu(x) if layer < 2 else x
    return x


def epoch(update, noise=None):
    p = start()
    state = [torch.zeros_like(t) for t in p]
    def run():
        order = torch.randperm(N)
        for rows in order.split(BATCH):
            grads = torch.autograd.grad(F.cross_entropy(forward(p, x[rows], noise), y[rows]), p)
            with torch.no_grad():
                update(p, grads, state)
    return run


def momentum(p, grads, state):
    torch._foreach_add_(grads, p, alpha=5e-4)
    torch._foreach_mul_(state, 0.9)
    torch._foreach_add_(state, grads)
    torch._foreach_add_(p, state, alpha=-RATE)


def langevin(p, grads, state):
    torch._foreach_add_(grads, p, alpha=5e-4)
    torch._foreach_add_(p, grads, alpha=-RATE)
    torch._foreach_add_(p, [torch.randn_like(t) for t in p], alpha=(2 * RATE / N) ** 0.5)


def hamiltonian(p, grads, state):
    torch._foreach_add_(grads, p, alpha=5e-4)
    torch._foreach_mul_(state, 0.9)
    torch._foreach_add_(state, grads, alpha=-RATE)
    torch._foreach_add_(state, [torch.randn_like(t) for t in p], alpha=(0.2 * RATE / N) ** 0.5)
    torch._foreach_add_(p, state)


def leapfrog():
    p = start()
    momenta = [torch.randn_like(t) for t in p]
    def run():
        total = [torch.zeros_like(t) for t in p]
        for first in range(0, N, 1000):
            loss = F.cross_entropy(forward(p, x[first:first + 1000]), y[first:first + 1000], reduction="sum")
            torch._foreach_add_(total, torch.autograd.grad(loss, p))
        with torch.no_grad():
            torch._foreach_add_(momenta, total, alpha=-1e-5)
            torch._foreach_add_(p, momenta, alpha=1e-5)
    return run


def likelihood():
    p = start()
    def run():
        with torch.no_grad():
            for first in range(0, N, 1000):
                F.cross_entropy(forward(p, x[first:first + 1000]), y[first:first + 1000], reduction="sum")
    return run


def looks():
    p = start()
    def run():
        with torch.no_grad():
            forward(p, test, "dropout")
    return run


def theirs(run):
    run()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def train(method, **settings):
    with tempfile.TemporaryDirectory() as scratch:
        record = os.path.join(scratch, "record.json")
        command = [binary, "train", method, "--data", "mnist", "--dir", folder, "-o",
                   os.path.join(scratch, "p.npz"), "--record", record]
        for name, value in settings.items():
            command += ["--set", f"{name}={value}"]
        subprocess.run(command, check=True, capture_output=True)
        return json.load(open(record))["members"][0]


def ours(method, unit, **settings):
    """Median seconds of a unit: the difference of a long and a short run, so that what a run does once
    does not count."""
    times = []
    for _ in range(repeats):
        long, short = (train(method, **{k: v[i] if isinstance(v, tuple) else v for k, v in settings.items()}) for i in (0, 1))
        times.append((long["wall_secs"] - short["wall_secs"]) / unit)
    return statistics.median(times)


small = dict(lr=1e-3, prior_std=0.2)
rows = [  # rule, ours, theirs
    ("momentum", ours("sgd", 4, epochs=(5, 1), **small), theirs(epoch(momentum))),
    ("dropout", ours("mc-dropout", 4, epochs=(5, 1), samples=1, rate=0.04, **small), theirs(epoch(momentum, "dropout"))),
    ("gaussian dropout", ours("gaussian-dropout", 4, epochs=(5, 1), samples=1, rate=0.04, **small), theirs(epoch(momentum, "gaussian"))),
    ("sgld", ours("sgld", 4, burn_in=(4, 0), samples=1, **small), theirs(epoch(langevin))),
    ("sghmc", ours("sghmc", 4, burn_in=(4, 0), samples=1, **small), theirs(epoch(hamiltonian))),
    ("leapfrog step", ours("hmc", 4, burn_in=0, samples=1, leapfrog=(5, 1), step=1e-5), theirs(leapfrog())),
    ("likelihood", None, theirs(likelihood())),
]
# A move of slice sampling takes several likelihoods; its record counts them.
path = dict(epochs=1, collect_epochs=3, collect=3, collect_lr=1e-3, rank=2, temperature=5000, **small)
times = []
for _ in range(repeats):
    long, short = train("subspace", samples=12, **path), train("subspace", samples=1, **path)
    evaluations = long["report"]["likelihood_evaluations"] - short["report"]["likelihood_evaluations"]
    times.append((long["wall_secs"] - short["wall_secs"]) / evaluations)
rows[-1] = ("likelihood", statistics.median(times), rows[-1][2])
cost = {name: (own, other) for name, own, other in rows}

print(f"| a rule's unit | dubio, s | PyTorch {torch.__version__}, s | ratio |\n| --- | ---: | ---: | ---: |")
for name, (own, other) in cost.items():
    unit = name if name in ("leapfrog step", "likelihood") else f"{name}, epoch"
    print(f"| {unit} | {own:.3f} | {other:.3f} | {other / own:.2f} |")

methods = [  # method, what a sample takes
    ("sgd", [(50, "momentum")]),
    ("deep-ensemble", [(50, "momentum")]),
    ("snapshot, cycles of 22 epochs", [(22, "momentum")]),
    ("fge, 50 epochs, then cycles of 4", [(0.5 + 4, "momentum")]),
    ("swa", [(80, "momentum")]),
    ("swag", [(0.8, "momentum")]),
    ("mc-dropout", [(0.5, "dropout")]),
    ("gaussian-dropout", [(0.5, "gaussian dropout")]),
    ("sgld", [(1.5, "sgld")]),
    ("sghmc", [(1.5, "sghmc")]),
    ("csgld", [(5.5, "sgld")]),
    ("csghmc", [(5.5, "sghmc")]),
    ("hmc, 40 leapfrog steps", [(40, "leapfrog step")]),
    ("nuts, 63 leapfrog steps", [(63, "leapfrog step")]),
    ("subspace, 3 likelihoods a move", [(1, "momentum"), (3, "likelihood")]),
]
print("\n| method | a sample takes | dubio, s | PyTorch, s | ratio |\n| --- | --- | ---: | ---: | ---: |")
for name, parts in methods:
    own, other = (sum(count * cost[rule][side] for count, rule in parts) for side in (0, 1))
    words = " + ".join(f"{count:g} {rule}" for count, rule in parts)
    print(f"| {name} | {words} | {own:.2f} | {other:.2f} | {other / own:.2f} |")
