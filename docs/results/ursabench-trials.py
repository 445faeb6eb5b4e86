#!/usr/bin/env python3
"""Repeats what the published code of Vadera et al. 2020 did on MNIST and its paper does not say.

    docs/results/ursabench-trials.py FOLDER

Its five trials go on from one another's weights, its subspaces have a mean that counts one point too many, its HMC
is colder than it says, its dropout has a rate and a schedule of its own, and its decision task begins with networks that
have seen every three and seven. Needs `dubio` on the path, numpy, safetensors and torch, and MNIST, Fashion-MNIST and KMNIST
below $DUBIO_DATA. Files go to the folder that is named; what is there already is not done again. About five hours of one core.
"""
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from torch.nn.functional import cross_entropy, dropout, relu

MNIST = "0.1306604762738429/0.30810780385646264"  # mean and deviation of the training images
COLD = "temperature=1.6666666666666667e-5"  # 1 / 60000
# Settings in the published code, searched for there; five trials of ten cycles, one after another.
CYCLES = {
    "csgld": (30, ["lr=0.0586651", "prior_std=0.1795933", "cycle_epochs=21", "noise_epochs=4", "cycle_samples=3"]),
    "csghmc": (40, ["lr=0.0682536", "prior_std=0.3304300", "cycle_epochs=22", "noise_epochs=5", "cycle_samples=4",
                    "friction=0.2125676"]),
}
# One run each, from the last weights of the one before.
PATH = ["samples=100", "lr=0.0439", "schedule=flat-then-linear:0.0387", "epochs=50", "collect_lr=0.0017", "collect_epochs=50",
        "collect=50", "rank=20", "momentum=0.536", "temperature=5000", "prior_std=0.204"]
PUBLISHED = {
    "cSGLD": "98.57 ± 0.03 | 0.0476 ± 0.0011 | 0.0223 ± 0.0003 | 0.0056 ± 0.0003 | 0.950 ± 0.005 | 0.954 ± 0.004",
    "PCA + ESS": "98.40 ± 0.07 | 0.0520 ± 0.0016 | 0.0251 ± 0.0007 | 0.0036 ± 0.0005 | 0.938 ± 0.009 | 0.933 ± 0.006",
    "HMC": "98.19 ± 0.10 | 0.0593 ± 0.0016 | 0.0280 ± 0.0008 | 0.0079 ± 0.0008 | 0.946 ± 0.017 | 0.966 ± 0.013",
    "MC dropout": "98.58 ± 0.07 | 0.0501 ± 0.0031 | 0.0218 ± 0.0008 | 0.0042 ± 0.0006 | 0.943 ± 0.010 | 0.942 ± 0.013",
    "cSGHMC": "98.36 ± 0.09 | 0.0533 ± 0.0016 | 0.0256 ± 0.0010 | 0.0033 ± 0.0003 | 0.931 ± 0.017 | 0.923 ± 0.021",
}
# Momenta are drawn with the mass for a deviation, where its root is right: a temperature of as much. A step is
# that for a mass of one times the root of the temperature.
HMC = ["samples=100", "burn_in=200", "leapfrog=40", "step=0.000209", "target_acceptance=0", "prior_std=0.1", "temperature=0.1919"]
# The share that is dropped is that of the paper, the rest is in the code.
DROPOUT = ["samples=100", "epochs=100", "lr=0.0832312", "momentum=0.90408", "weight_decay=0.0003", "rate=0.04"]
# The same as the code has it today: five times the rate at its highest.
HIGHEST, DECAY, RATE, EPOCHS, BATCH, SAMPLES = 5 * 0.08323124796152115, 0.0003, 0.2, 100, 128, 100
SGHMC = ["samples=100", "lr=0.03", "prior_std=0.14", "burn_in=50", "friction=0.1", "schedule=cosine:0.5", COLD]
SUBSPACE = ["samples=100", "lr=0.04", "schedule=flat-then-linear:0.05", "epochs=50", "collect_lr=0.002",
            "collect_epochs=50", "collect=20", "rank=20", "momentum=0.54", "temperature=5000", "prior_std=0.2"]
CSGLD = ["samples=30", *CYCLES["csgld"][1], COLD]
DECISION = """title = "The decision task from networks that have seen all of the data"
data = ["mnist"]
networks = ["mlp"]
seeds = 1
[decision]
critical = [3, 7]
dropped = 0.99
miss = 100
other = 0.1
"""


def train(folder, name, method, settings, seed=0):
    """Predictions and the weights of every sample."""
    if not (folder / f"{name}.json").exists():
        also = [f"--also={data}:test={folder / name}-{data}.npz" for data in ("fashion-mnist", "kmnist")]
        subprocess.run(["dubio", "train", method, "--data=mnist", "--network=mlp", *[f"--set={s}" for s in settings],
                        f"--seed={seed}", f"--output={folder / name}.npz", *also, f"--weights={folder / name}-weights",
                        f"--checkpoints={folder / name}.checkpoints", f"--record={folder / name}.json"],
                       check=True, stdout=sys.stderr)


def trial(folder, name, chosen):
    """Scores of some of the samples."""
    parts = {}
    for data in ("", "-fashion-mnist", "-kmnist"):
        parts[data] = folder / f"part{data}.npz"
        arrays = dict(np.load(folder / f"{name}{data}.npz"))
        np.savez(parts[data], **{key: a[chosen] if a.ndim == 3 else a for key, a in arrays.items()})
    wanted = "--scores=accuracy,nll,brier,ece,ood.fashion.auroc,ood.kmnist.auroc"
    done = subprocess.run(["dubio", "evaluate", parts[""], "--json", f"--ood=fashion={parts['-fashion-mnist']}",
                           f"--ood=kmnist={parts['-kmnist']}", wanted], check=True, capture_output=True)
    scores = json.loads(done.stdout)
    value = lambda score: scores[score]["value"]
    both = lambda signal: (value(f"ood.fashion.auroc.{signal}") + value(f"ood.kmnist.auroc.{signal}")) / 2
    return [100 * value("accuracy"), value("nll"), value("brier"), value("ece"), both("total"), both("model")]


def trials(folder):
    print("| row | trial | accuracy, % | NLL | Brier | ECE | AUROC, total | AUROC, model |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, (samples, settings) in CYCLES.items():
        train(folder, name, name, [f"samples={5 * samples}", *settings, COLD])
        show(name, [trial(folder, name, slice(i * samples, (i + 1) * samples)) for i in range(5)])
    scores = []
    for i in range(5):
        begin = [f"start={folder / f'path-{i - 1}-weights' / '99.safetensors'}"] if i else []
        train(folder, f"path-{i}", "subspace", [*PATH, *begin], seed=i)
        scores.append(trial(folder, f"path-{i}", slice(None)))
    show("subspace", scores)
    show("subspace, one point too many", [counted(folder, f"path-{i}", seed=i) for i in range(5)])
    train(folder, "hmc", "hmc", HMC)
    show("hmc", [trial(folder, "hmc", slice(None))])
    for name, end, seeds in [("decay to half", 0.5, 3), ("decay to a hundredth", 0.01, 1)]:
        scores = []
        for i in range(seeds):
            file = f"dropout-{end}-{i}"
            train(folder, file, "mc-dropout", [*DROPOUT, f"schedule=cosine:{end}"], seed=i)
            scores.append(trial(folder, file, slice(None)))
        show(f"mc-dropout, {name}", scores)
    show("mc-dropout, one cycle", [one_cycle(folder, "one-cycle", seed=0)])
    for name, row in PUBLISHED.items():
        print(f"| published {name} | all | {row} |")


def counted(folder, path, seed):
    """Scores of samples around a mean that counts one point too many.

    The mean of the first n of 50 points is their sum over n + 1, so the mean of all is 50 / 51 of what it should be, and
    the deviation of point n from the mean so far has n-th part of the weights in it: w / (n + 1). Of the last twenty
    such, the main direction is that of the weights themselves, and by far; the samples are moved along it.
    """
    name = f"{path}-counted"
    changed = folder / f"{name}-weights"
    samples = [load_file(folder / f"{path}-weights" / f"{i}.safetensors") for i in range(100)]
    mean = {key: np.mean([sample[key] for sample in samples], 0) for key in samples[0]}
    length = (sum((n + 1) ** -2 for n in range(31, 51)) / 19) ** 0.5
    moves = 50 / 51 - 1 + length * 2 * np.random.default_rng(seed).standard_normal(100)
    changed.mkdir(exist_ok=True)
    files = [changed / f"{i}.safetensors" for i in range(100)]
    for sample, move, file in zip(samples, moves, files):
        save_file({key: (value + move * mean[key]).astype(np.float32) for key, value in sample.items()}, file)
    for data, suffix in [("mnist", ""), ("fashion-mnist", "-fashion-mnist"), ("kmnist", "-kmnist")]:
        subprocess.run(["dubio", "predict", "--network=mlp", f"--data={data}:test", f"--normalize={MNIST}",
                        *[f"--weights={file}" for file in files], f"--output={folder / name}{suffix}.npz"],
                       check=True, stdout=sys.stderr)
    return trial(folder, name, slice(None))


def images(data, part):
    place = pathlib.Path(os.environ["DUBIO_DATA"]) / data
    with gzip.open(place / f"{part}-images-idx3-ubyte.gz") as file:
        x = np.frombuffer(file.read()[16:], np.uint8).reshape(-1, 784)
    with gzip.open(place / f"{part}-labels-idx1-ubyte.gz") as file:
        y = np.frombuffer(file.read()[8:], np.uint8)
    mean, deviation = map(float, MNIST.split("/"))
    return (torch.tensor(x) / 255 - mean) / deviation, torch.tensor(y.astype(np.int64))


def dropped(layers, x):
    """Logits; units are dropped before the activation, in training and in prediction."""
    first, second, third = layers
    return third(relu(dropout(second(relu(dropout(first(x), RATE))), RATE)))


def one_cycle(folder, name, seed):
    """Scores of dropout as the code has it today, trained in PyTorch.

    A fifth of the units is dropped, whatever is set, and rate and momentum go through one cycle of a hundred epochs
    (Smith and Topin 2017, with PyTorch's defaults): the rate rises during the first 30 % and falls to next to nothing,
    while momentum falls from 0.95 to 0.85 and comes back. All samples are passes of the last network.
    """
    if not (folder / f"{name}-kmnist.npz").exists():
        torch.manual_seed(seed)
        x, y = images("mnist", "train")
        layers = torch.nn.ModuleList(torch.nn.Linear(*size) for size in [(784, 200), (200, 200), (200, 10)])
        descent = torch.optim.SGD(layers.parameters(), lr=HIGHEST, momentum=0.95, weight_decay=DECAY)
        steps = EPOCHS * -(-len(x) // BATCH)
        cycle = torch.optim.lr_scheduler.OneCycleLR(descent, max_lr=HIGHEST, total_steps=steps)
        for _ in range(EPOCHS):
            for batch in torch.randperm(len(x)).split(BATCH):
                descent.zero_grad()
                cross_entropy(dropped(layers, x[batch]), y[batch]).backward()
                descent.step()
                cycle.step()
        for data, suffix in [("mnist", ""), ("fashion-mnist", "-fashion-mnist"), ("kmnist", "-kmnist")]:
            x, y = images(data, "t10k")
            with torch.no_grad():
                passes = np.stack([dropped(layers, x).numpy() for _ in range(SAMPLES)])
            np.savez(folder / f"{name}{suffix}.npz", logits=passes, labels=y.numpy())
    return trial(folder, name, slice(None))


def show(name, scores):
    digits = [2, 4, 4, 4, 3, 3]
    for i, row in enumerate(scores):
        print(f"| `{name}` | {i + 1} | " + " | ".join(f"{x:.{d}f}" for x, d in zip(row, digits)) + " |")
    if len(scores) == 1:
        return
    spread = [f"{statistics.mean(x):.{d}f} ± {statistics.stdev(x):.{d}f}" for x, d in zip(zip(*scores), digits)]
    print(f"| `{name}` | all | " + " | ".join(spread) + " |")


def decision(folder):
    train(folder, "sghmc", "sghmc", SGHMC)
    train(folder, "subspace", "subspace", SUBSPACE)
    text = DECISION
    for method, settings, start in [("sghmc", SGHMC, "sghmc"), ("subspace", SUBSPACE, "subspace"),
                                    ("csgld", CSGLD, "sghmc")]:
        pairs = [setting.split("=") for setting in settings]
        quoted = [f"{key} = {json.dumps(value) if key == 'schedule' else value}" for key, value in pairs]
        last = (folder / f"{start}-weights" / "99.safetensors").resolve()
        text += "\n".join(["[[methods]]", f'method = "{method}"', f'start = ["{last}"]', *quoted, ""])
    suite, runs = folder / "decision.toml", folder / "runs"
    suite.write_text(text)
    subprocess.run(["dubio", "run", suite, "--runs", runs], check=True, stdout=sys.stderr)
    subprocess.run(["dubio", "score", runs, "--scores", "decision_cost"], check=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    place = pathlib.Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    trials(place)
    print()
    decision(place)
