"""Times the scores of the Python package beside those of other packages, all in one process and one run.

    python benches/python_scores.py [--reps 5] [--small]

needs dubio, torch, torchmetrics, netcal, scikit-learn, uncertainty-toolbox and mapie. The input is an ensemble,
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

PACKAGES = ["dubio", "numpy", "torch", "torchmetrics", "netcal", "scikit-learn", "uncertainty-toolbox", "mapie"]


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


def classification(given: Input) -> List[Row]:
    """Rows of scikit-learn, torchmetrics and netcal."""
    import netcal.metrics
    import sklearn.metrics as sk
    import torch
    import torchmetrics.functional.classification as tm

    probs, labels = given.probs, given.labels
    tensor, truth = torch.from_numpy(probs), torch.from_numpy(labels)
    classes = probs.shape[1]
    wrong = lambda: (probs.argmax(axis=1) != labels).astype(int)

    def torch_ece(norm: str) -> float:
        return float(tm.multiclass_calibration_error(tensor, truth, num_classes=classes, n_bins=15, norm=norm))

    edges = {"torchmetrics": "torchmetrics", "netcal": "left-closed"}
    return [
        Row("accuracy", "scikit-learn", lambda: dubio.accuracy(probs, labels), lambda: sk.accuracy_score(labels, probs.argmax(axis=1))),
        Row("accuracy", "torchmetrics", lambda: dubio.accuracy(probs, labels), lambda: float(tm.multiclass_accuracy(tensor, truth, num_classes=classes, average="micro")), 1e-6),
        Row("macro_f1", "scikit-learn", lambda: dubio.macro_f1(probs, labels), lambda: sk.f1_score(labels, probs.argmax(axis=1), average="macro")),
        Row("nll", "scikit-learn", lambda: dubio.nll(probs, labels), lambda: sk.log_loss(labels, probs)),
        Row("brier", "scikit-learn", lambda: dubio.brier(probs, labels), lambda: sk.brier_score_loss(labels, probs, scale_by_half=False, labels=np.arange(classes))),
        Row("ece", "torchmetrics", lambda: dubio.ece(probs, labels, edges=edges["torchmetrics"]), lambda: torch_ece("l1"), 1e-5),
        Row("ece", "netcal", lambda: dubio.ece(probs, labels, edges=edges["netcal"]), lambda: netcal.metrics.ECE(15).measure(probs, labels)),
        Row("mce", "torchmetrics", lambda: dubio.mce(probs, labels, edges=edges["torchmetrics"]), lambda: torch_ece("max"), 1e-4),
        Row("misclassification.auroc.confidence", "scikit-learn", lambda: dubio.misclassification_auroc_confidence(probs, labels), lambda: sk.roc_auc_score(wrong(), 1 - probs.max(axis=1))),
    ]


def regression(given: Input) -> List[Row]:
    """Rows of uncertainty-toolbox and MAPIE."""
    import mapie.metrics.regression as mapie
    import uncertainty_toolbox.metrics_calibration as calibration
    import uncertainty_toolbox.metrics_scoring_rule as rules

    arrays = given.mean, given.std, given.targets
    r = dubio.regression

    def covered() -> float:
        half = 1.959963984540054 * given.std
        intervals = np.stack([given.mean - half, given.mean + half], axis=1)[:, :, None]
        return float(np.ravel(mapie.regression_coverage_score(given.targets, intervals))[0])

    return [
        Row("nll", "uncertainty-toolbox", lambda: r.nll(*arrays), lambda: rules.nll_gaussian(*arrays)),
        Row("crps", "uncertainty-toolbox", lambda: r.crps(*arrays), lambda: rules.crps_gaussian(*arrays)),
        Row("qce", "uncertainty-toolbox", lambda: r.qce(*arrays), lambda: calibration.mean_absolute_calibration_error(*arrays, num_bins=10)),
        Row("picp", "MAPIE", lambda: r.picp(*arrays), covered),
    ]


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
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES))
    print("\n| score | package | dubio, wall / processor s | package, wall / processor s | ratio, wall |")
    print("| --- | --- | ---: | ---: | ---: |")
    for row in classification(given) + regression(given):
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
