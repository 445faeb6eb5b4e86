#!/usr/bin/env python3
"""Runs suites/ursabench-small.toml and prints its tables beside those of Vadera et al. 2020.

    docs/results/ursabench-small.py RUNS [SEEDS]

Needs `dubio` on the path, and MNIST, Fashion-MNIST and KMNIST below $DUBIO_DATA. Runs go to the folder that is
named; what is there already is not done again. About an hour on two cores for each seed, and for the first another for the methods that are not in the paper.
"""
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

# Tables 1, 3, 4 and 5 of the paper: mean and, where it is given, deviation over five trials.
PUBLISHED = {
    "accuracy": "HMC .9819 .0010; SGLD .9839 .0004; SGHMC .9862 .0003; cSGLD .9857 .0003; cSGHMC .9836 .0009; PCA .9840 .0007; dropout .9858 .0007; SGD .9860 .0002",
    "nll": "HMC .0593 .0016; SGLD .0492 .0022; SGHMC .0446 .0003; cSGLD .0476 .0011; cSGHMC .0533 .0016; PCA .0520 .0016; dropout .0501 .0031; SGD .0452 .0012",
    "brier": "HMC .0280 .0008; SGLD .0236 .0005; SGHMC .0210 .0002; cSGLD .0223 .0003; cSGHMC .0256 .0010; PCA .0251 .0007; dropout .0218 .0008; SGD .0213 .0003",
    "ece": "HMC .0079 .0008; SGLD .0041 .0024; SGHMC .0073 .0004; cSGLD .0056 .0003; cSGHMC .0033 .0003; PCA .0036 .0005; dropout .0042 .0006; SGD .0032 .0005",
    "decision_cost": "HMC 7101 346; SGLD 5410 778; SGHMC 5408 240; cSGLD 6526 2241; cSGHMC 4824 1855; PCA 3809 1150; dropout 15236 1184; SGD 8613 1428",
    "seconds": "HMC 0.72 0.01; SGLD 2.02 0.02; SGHMC 2.03 0.02; cSGLD 14.08 0.05; cSGHMC 14.77 0.03; PCA 70.67 0.20; dropout 2.02 0.03; SGD 2.03 0.02",
    "composite.robustness": "HMC .9570 .0075; SGLD .9065 .0377; SGHMC .9426 .0048; cSGLD .9521 .0022; cSGHMC .9276 .0094; PCA .9360 .0038; dropout .9429 .0059",
    "composite.uncertainty": "HMC .9734 .0012; SGLD .9679 .0233; SGHMC .9807 .0003; cSGLD .9795 .0007; cSGHMC .9759 .0015; PCA .9695 .0012; dropout .9769 .0019",
    "ood.fashion-mnist-test.auroc.model": "HMC .966 .013; SGLD .867 .110; SGHMC .933 .009; cSGLD .954 .004; cSGHMC .923 .021; PCA .933 .006; dropout .942 .013",
    "ood.fashion-mnist-test.auroc.total": "HMC .946 .017; SGLD .944 .005; SGHMC .953 .010; cSGLD .950 .005; cSGHMC .931 .017; PCA .938 .009; dropout .943 .010; SGD .945 .010",
    "ood.kmnist-test.auroc.model": "HMC .968 .013; SGLD .871 .103; SGHMC .932 .009; cSGLD .954 .004; cSGHMC .923 .020; PCA .934 .006; dropout .943 .013",
    "ood.kmnist-test.auroc.total": "HMC .948 .017; SGLD .944 .005; SGHMC .952 .010; cSGLD .950 .005; cSGHMC .933 .017; PCA .940 .009; dropout .944 .010; SGD .943 .010",
    "misclassification.auroc.model": "HMC .9706; SGLD .9739; SGHMC .9786; cSGLD .9769; cSGHMC .9730; PCA .9539; dropout .9754",
    "misclassification.auroc.total": "HMC .9734; SGLD .9800; SGHMC .9815; cSGLD .9801; cSGHMC .9786; PCA .9774; dropout .9763; SGD .9795",
    "misclassification.auroc.confidence": "HMC .9743; SGLD .9800; SGHMC .9823; cSGLD .9798; cSGHMC .9786; PCA .9772; dropout .976; SGD .9794",
    "misclassification.aupr.model": "HMC .3429; SGLD .3530; SGHMC .3546; cSGLD .3695; cSGHMC .3260; PCA .2059; dropout .4085",
    "misclassification.aupr.total": "HMC .3888; SGLD .4502; SGHMC .3929; cSGLD .4477; cSGHMC .4255; PCA .4298; dropout .43; SGD .4273",
    "misclassification.aupr.confidence": "HMC .4145; SGLD .4632; SGHMC .4131; cSGLD .4478; cSGHMC .4404; PCA .4248; dropout .4199; SGD .4389",
}
# Langevin methods of the paper are cold: it divides their noise by N, not by its root.
COUNTERPART = {
    "sgd": "SGD", "mc-dropout": "dropout", "sgld, T = 1": None, "sgld, T = 1 over N": "SGLD", "sghmc, T = 1": None,
    "sghmc, T = 1 over N": "SGHMC", "csgld": "cSGLD", "csghmc": "cSGHMC", "subspace": "PCA", "hmc": "HMC",
}
# Methods of the suite that are not in the paper.
OTHERS = [
    "deep-ensemble", "swag", "snapshot", "gaussian-dropout", "packed-ensemble", "masksembles", "batch-ensemble", "vi", "ivon",
    "rank1-vi", "sngp", "laplace", "distill", "svgd", "swa", "fge", "nuts, last layer",
]
OTHER_COLUMNS = [
    ("accuracy", "accuracy ↑", 4), ("nll", "NLL ↓", 4), ("ece", "ECE ↓", 4), ("composite.robustness", "robustness ↑", 3),
    ("composite.uncertainty", "uncertainty ↑", 3), ("ood.fashion-mnist-test.auroc.total", "Fashion-MNIST AUROC ↑", 3),
    ("ood.kmnist-test.auroc.total", "KMNIST AUROC ↑", 3), ("decision_cost", "decision cost ↓", 0),
]
TABLES = [
    ("Table 1: composite scores", [("composite.robustness", "robustness ↑", 4), ("composite.uncertainty", "uncertainty ↑", 4), ("seconds", "CPU seconds per sample ↓", 2)]),
    ("Table 3: predictive performance", [("accuracy", "accuracy ↑", 4), ("nll", "NLL ↓", 4), ("brier", "Brier ↓", 4), ("ece", "ECE ↓", 4)]),
    ("Table 3: decision cost", [("decision_cost", "decision cost ↓", 0)]),
    ("Table 4: Fashion-MNIST, AUROC", [("ood.fashion-mnist-test.auroc.model", "model ↑", 3), ("ood.fashion-mnist-test.auroc.total", "total ↑", 3)]),
    ("Table 4: KMNIST, AUROC", [("ood.kmnist-test.auroc.model", "model ↑", 3), ("ood.kmnist-test.auroc.total", "total ↑", 3)]),
    ("Table 5: misclassification, AUROC", [(f"misclassification.auroc.{u}", f"{u} ↑", 4) for u in ("model", "total", "confidence")]),
    ("Table 5: misclassification, AUPR", [(f"misclassification.aupr.{u}", f"{u} ↑", 3) for u in ("model", "total", "confidence")]),
]


def published(score, method):
    for entry in PUBLISHED[score].split("; "):
        name, mean, *deviation = entry.split()
        if name == method:
            return float(mean), float(deviation[0]) if deviation else None
    return None


def measured(runs, seeds):
    """(method, score) -> mean, deviation, lo, hi, number of runs."""
    suite = pathlib.Path(__file__).resolve().parents[2] / "suites" / "ursabench-small.toml"
    for seed in range(seeds):
        only = ["--only", f"seed={seed}"]
        subprocess.run(["dubio", "run", suite, "--runs", runs, *only], check=True, stdout=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        report = ["dubio", "report", runs, "--study", "ursabench-small", "--format", "csv", "-o", folder]
        subprocess.run(report, check=True, stdout=sys.stderr)
        rows = list(csv.DictReader(open(f"{folder}/methods.csv")))
    number = lambda text: float(text) if text else None
    found = {}
    for row in rows:
        if row["mean"] and row["split"] == ("decision" if row["score"] == "decision_cost" else "test"):
            numbers = [number(row[key]) for key in ("mean", "std", "lo", "hi")]
            found[row["method"], row["score"]] = (*numbers, int(row["runs"]))
    seconds = {}
    for path in pathlib.Path(runs).glob("*/record.json"):
        record = json.loads(path.read_text())
        if record["spent"].get("sample_cpu_secs") is not None:
            seconds.setdefault(record["label"], []).append(record["spent"]["sample_cpu_secs"])
    for method, each in seconds.items():
        deviation = statistics.stdev(each) if len(each) > 1 else None
        found[method, "seconds"] = (statistics.mean(each), deviation, None, None, len(each))
    return found


def main(runs, seeds="5"):
    found = measured(runs, int(seeds))
    for title, columns in TABLES:
        print(f"\n### {title}\n")
        print("| method | runs |" + "".join(f" {name} | published |" for _, name, _ in columns))
        print("| --- | ---: |" + " ---: | ---: |" * len(columns))
        for method, counterpart in COUNTERPART.items():
            cells, count = [], found.get((method, "accuracy"), (0,))[-1]
            for score, _, digits in columns:
                ours = found.get((method, score))
                theirs = published(score, counterpart) if counterpart else None
                cells += [ours_as_text(ours, theirs, digits, score), theirs_as_text(theirs, digits)]
            print(f"| {method} | {count} | " + " | ".join(cells) + " |")
    both_sets(found)
    others(found)


def others(found):
    """Methods without a published counterpart."""
    print("\n### Methods that are not in the paper\n")
    print("| method | runs |" + "".join(f" {name} |" for _, name, _ in OTHER_COLUMNS))
    print("| --- | ---: |" + " ---: |" * len(OTHER_COLUMNS))
    for method in OTHERS:
        count = found.get((method, "accuracy"), (0,))[-1]
        cells = [ours_as_text(found.get((method, score)), None, digits, score) for score, _, digits in OTHER_COLUMNS]
        print(f"| {method} | {count} | " + " | ".join(cells) + " |")


def both_sets(found):
    """Table 4 as its code makes it: both columns are means over both OOD sets (see ursabench-trials.md)."""
    print("\n### Table 4: both OOD sets together, AUROC\n")
    signals = ("model", "total")
    print("| method |" + "".join(f" {signal} ↑ | published, Fashion-MNIST | published, KMNIST |" for signal in signals))
    print("| --- |" + " ---: | ---: | ---: |" * 2)
    for method, counterpart in COUNTERPART.items():
        cells = []
        for signal in signals:
            scores = [f"ood.{data}-test.auroc.{signal}" for data in ("fashion-mnist", "kmnist")]
            ours = [found[method, score][0] for score in scores if (method, score) in found]
            cells.append(f"{statistics.mean(ours):.3f}" if ours else "—")
            cells += [theirs_as_text(published(score, counterpart) if counterpart else None, 3) for score in scores]
        print(f"| {method} | " + " | ".join(cells) + " |")


def ours_as_text(ours, theirs, digits, score):
    if ours is None:
        return "—"
    mean, deviation, lo, hi, _ = ours
    text = f"{mean:.{digits}f}"
    if deviation is not None:
        text += f" ± {deviation:.{digits}f}"
    if lo is not None:
        text += f" [{lo:.{digits}f}, {hi:.{digits}f}]"
    # A dagger where the difference is larger than both spreads; seconds are of other machines.
    if theirs and theirs[1] is not None and score != "seconds":
        own = deviation if deviation is not None else (hi - lo) / 2
        if abs(mean - theirs[0]) > max(own, theirs[1]):
            text += " †"
    return text


def theirs_as_text(theirs, digits):
    if theirs is None:
        return "—"
    mean, deviation = theirs
    return f"{mean:.{digits}f}" + (f" ± {deviation:.{digits}f}" if deviation is not None else "")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
