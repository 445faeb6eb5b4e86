"""Times the scores of the Python package beside those of other packages, all in one process and one run.

    python benches/python_scores.py [--reps 5] [--small]

compares with torchmetrics, netcal, scikit-learn, uncertainty-toolbox and mapie, where they are installed; those that are not
are named. The input is an ensemble,
[10, 50000, 100] float32 logits, and 50,000 Gaussians. Other packages do not average members, so each score of
classification gets the averaged probabilities, [50000, 100] float64, on both sides. Every pair of values is compared
before it is timed: a fast wrong number is no result. --small uses 2000 examples, to try the script.
Prints a Markdown table: median wall and processor seconds.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import statistics
import time
from typing import Any, Callable, List, NamedTuple

import numpy as np

import dubio


class Row(NamedTuple):
    """A score, whose it is, both computations, and how far their values may differ."""

    score: str
    other: str
    ours: Callable[[], float]
    theirs: Callable[[], float]
    tolerance: float = 1e-9


class Input:
    """An overconfident ensemble with its labels, and Gaussians with their targets."""

    def __init__(self, examples: int) -> None:
        draws = np.random.default_rng(0)
        members, classes = 10, 100
        shared = 1.5 * draws.standard_normal((examples, classes), dtype=np.float32)
        self.labels = (shared + draws.gumbel(size=shared.shape)).argmax(axis=1)
        noise = draws.standard_normal((members, examples, classes), dtype=np.float32)
        self.logits = 1.5 * shared + 0.5 * noise
        self.probs = self.pooled()
        self.mean, self.std = draws.normal(size=examples), np.exp(0.3 * draws.normal(size=examples))
        self.targets = self.mean + 1.3 * self.std * draws.normal(size=examples)

    def pooled(self) -> Any:
        """Mean of the members' probabilities, a member at a time."""
        total = np.zeros(self.logits.shape[1:])
        for logits in self.logits:
            member = logits.astype(np.float64)
            member -= member.max(axis=1, keepdims=True)
            np.exp(member, out=member)
            total += member / member.sum(axis=1, keepdims=True)
        return total / total.sum(axis=1, keepdims=True)


def of_scikit_learn(given: Input) -> List[Row]:
    """Rows of scikit-learn."""
    import sklearn.metrics as sk

    probs, labels = given.probs, given.labels
    classes = np.arange(probs.shape[1])

    def best() -> Any:
        return probs.argmax(axis=1)

    def detected() -> float:
        return sk.roc_auc_score((best() != labels).astype(int), 1 - probs.max(axis=1))

    who = "scikit-learn"
    return [
        Row("accuracy", who, lambda: dubio.accuracy(probs, labels), lambda: sk.accuracy_score(labels, best())),
        Row("macro_f1", who, lambda: dubio.macro_f1(probs, labels), lambda: sk.f1_score(labels, best(), average="macro")),
        Row("nll", who, lambda: dubio.nll(probs, labels), lambda: sk.log_loss(labels, probs, labels=classes)),
        Row("brier", who, lambda: dubio.brier(probs, labels), lambda: sk.brier_score_loss(labels, probs, scale_by_half=False, labels=classes)),
        Row("misclassification.auroc.confidence", who, lambda: dubio.misclassification_auroc_confidence(probs, labels), detected),
    ]


def of_torchmetrics(given: Input) -> List[Row]:
    """Rows of torchmetrics, which computes in single precision."""
    import torch
    import torchmetrics.functional.classification as tm

    probs, labels = given.probs, given.labels
    tensor, truth = torch.from_numpy(probs), torch.from_numpy(labels)
    classes = probs.shape[1]

    def accuracy() -> float:
        return float(tm.multiclass_accuracy(tensor, truth, num_classes=classes, average="micro"))

    def calibration(norm: str) -> float:
        return float(tm.multiclass_calibration_error(tensor, truth, num_classes=classes, n_bins=15, norm=norm))

    who = "torchmetrics"
    return [
        Row("accuracy", who, lambda: dubio.accuracy(probs, labels), accuracy, 1e-6),
        Row("ece", who, lambda: dubio.ece(probs, labels, edges=who), lambda: calibration("l1"), 1e-5),
        Row("mce", who, lambda: dubio.mce(probs, labels, edges=who), lambda: calibration("max"), 1e-4),
    ]


def of_netcal(given: Input) -> List[Row]:
    """Rows of netcal."""
    import netcal.metrics

    probs, labels = given.probs, given.labels
    theirs = lambda: netcal.metrics.ECE(15).measure(probs, labels)
    return [Row("ece", "netcal", lambda: dubio.ece(probs, labels, edges="left-closed"), theirs)]


def of_uncertainty_toolbox(given: Input) -> List[Row]:
    """Rows of uncertainty-toolbox."""
    import uncertainty_toolbox.metrics_calibration as calibration
    import uncertainty_toolbox.metrics_scoring_rule as rules

    arrays = given.mean, given.std, given.targets
    r, who = dubio.regression, "uncertainty-toolbox"
    return [
        Row("nll", who, lambda: r.nll(*arrays), lambda: rules.nll_gaussian(*arrays)),
        Row("crps", who, lambda: r.crps(*arrays), lambda: rules.crps_gaussian(*arrays)),
        Row("qce", who, lambda: r.qce(*arrays), lambda: calibration.mean_absolute_calibration_error(*arrays, num_bins=10)),
    ]


def of_mapie(given: Input) -> List[Row]:
    """Rows of MAPIE."""
    import mapie.metrics.regression as mapie

    def covered() -> float:
        half = 1.959963984540054 * given.std
        intervals = np.stack([given.mean - half, given.mean + half], axis=1)[:, :, None]
        return float(np.ravel(mapie.regression_coverage_score(given.targets, intervals))[0])

    return [Row("picp", "MAPIE", lambda: dubio.regression.picp(given.mean, given.std, given.targets), covered)]


PACKAGES = {
    "scikit-learn": of_scikit_learn,
    "torchmetrics": of_torchmetrics,
    "netcal": of_netcal,
    "uncertainty-toolbox": of_uncertainty_toolbox,
    "mapie": of_mapie,
}


def rows(given: Input) -> List[Row]:
    """Rows of every package that is installed."""
    found, missing = [], []
    for package, of in PACKAGES.items():
        try:
            found += of(given)
        except ImportError as error:
            missing.append(f"{package} ({error})")
    if missing:
        print("Not installed: " + ", ".join(missing))
    return found


def versions() -> str:
    """What is installed of the packages."""
    names = ["dubio", "numpy", "torch", *PACKAGES]
    found = {d.metadata["Name"].lower(): d.version for d in importlib.metadata.distributions()}
    return ", ".join(f"{name} {found[name]}" for name in names if name in found)


def timed(work: Callable[[], Any], reps: int) -> "tuple[float, float]":
    """Median wall and processor seconds, after one run to warm up."""
    work()
    wall, processor = [], []
    for _ in range(reps):
        start = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - start[0])
        processor.append(time.process_time() - start[1])
    return statistics.median(wall), statistics.median(processor)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--small", action="store_true")
    args = parser.parse_args()
    given = Input(2000 if args.small else 50_000)
    print(versions())
    compared = rows(given)
    print("\n| score | package | dubio, wall / processor s | package, wall / processor s | ratio, wall |")
    print("| --- | --- | ---: | ---: | ---: |")
    for row in compared:
        ours, theirs = row.ours(), float(row.theirs())
        assert abs(ours - theirs) <= row.tolerance * max(1, abs(theirs)), (row.score, row.other, ours, theirs)
        a, b = timed(row.ours, args.reps), timed(row.theirs, args.reps)
        print(f"| `{row.score}` | {row.other} | {a[0]:.4f} / {a[1]:.4f} | {b[0]:.4f} / {b[1]:.4f} | {b[0] / a[0]:.1f} |")
    whole = timed(lambda: dubio.evaluate(logits=given.logits, labels=given.labels, intervals=False), args.reps)
    pool = timed(given.pooled, args.reps)
    shape = list(given.logits.shape)
    print(f"| every score, plain and calibrated, of `{shape}` logits | | {whole[0]:.3f} / {whole[1]:.3f} | | |")
    print(f"| averaging the members in numpy, which the packages need first | numpy | | {pool[0]:.3f} / {pool[1]:.3f} | |")


if __name__ == "__main__":
    main()
