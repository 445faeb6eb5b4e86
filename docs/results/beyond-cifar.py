#!/usr/bin/env python3
"""Runs suites/beyond-cifar.toml and prints its scores beside Table 8 of Seligmann et al. 2023.

    docs/results/beyond-cifar.py RUNS [REFERENCE]

Needs `dubio` on the path, a GPU, and CIFAR-10 and SVHN below $DUBIO_DATA; about a quarter of an hour on an H200. REFERENCE is
a file with predictions of Hamiltonian Monte Carlo for the test set, for agreement and total variation. Finished runs are
not run again. Scores go to RUNS/scores.csv; if that is there, only the tables are printed.
"""
import collections
import csv
import pathlib
import re
import statistics
import subprocess
import sys

SUITE = pathlib.Path(__file__).resolve().parents[2] / "suites" / "beyond-cifar.toml"
SCORES = ["accuracy", "ece", "sece", "nll", "agreement", "total_variation"]
# Severity: model: accuracy, ECE, sECE, NLL, agreement, total variation.
PUBLISHED = {
    0: {
        "MAP": "0.925 0.045 -0.045 0.296 0.906 0.172", "Deep Ensemble": "0.944 0.010 0.003 0.174 0.923 0.144",
        "MCD": "0.927 0.008 0.007 0.216 0.920 0.132", "SWAG": "0.921 0.042 0.042 0.250 0.910 0.130",
        "MultiSWAG": "0.940 0.099 0.099 0.258 0.927 0.107", "LL Laplace": "0.924 0.040 -0.040 0.282 0.906 0.169",
        "BBB": "0.898 0.046 -0.046 0.387 0.900 0.161", "Rank1-VI": "0.881 0.041 0.041 0.363 0.910 0.116",
        "iVON": "0.842 0.025 0.024 0.464 0.874 0.145", "SNGP": "0.917 0.076 0.076 0.380 0.903 0.178",
    },
    1: {
        "MAP": "0.872 0.080 -0.080 0.518", "Deep Ensemble": "0.903 0.014 -0.003 0.305",
        "MCD": "0.872 0.011 -0.004 0.400", "SWAG": "0.876 0.047 0.047 0.388", "MultiSWAG": "0.900 0.117 0.117 0.383",
        "LL Laplace": "0.873 0.074 -0.074 0.499", "BBB": "0.839 0.083 -0.083 0.682",
        "Rank1-VI": "0.843 0.042 0.042 0.484", "iVON": "0.795 0.025 0.010 0.596", "SNGP": "0.867 0.074 0.069 0.560",
    },
    3: {
        "MAP": "0.805 0.128 -0.128 0.863", "Deep Ensemble": "0.838 0.027 -0.027 0.518",
        "MCD": "0.777 0.047 -0.047 0.733", "SWAG": "0.806 0.032 0.031 0.593", "MultiSWAG": "0.839 0.117 0.117 0.556",
        "LL Laplace": "0.804 0.120 -0.119 0.839", "BBB": "0.735 0.154 -0.154 1.296",
        "Rank1-VI": "0.774 0.024 0.019 0.684", "iVON": "0.725 0.028 -0.022 0.809", "SNGP": "0.785 0.067 0.044 0.837",
    },
    5: {
        "MAP": "0.689 0.217 -0.217 1.494", "Deep Ensemble": "0.733 0.075 -0.075 0.937",
        "MCD": "0.629 0.141 -0.141 1.312", "SWAG": "0.696 0.018 -0.012 0.927", "MultiSWAG": "0.728 0.082 0.082 0.841",
        "LL Laplace": "0.690 0.203 -0.203 1.430", "BBB": "0.584 0.268 -0.268 2.413",
        "Rank1-VI": "0.673 0.028 -0.024 1.010", "iVON": "0.617 0.086 -0.086 1.201", "SNGP": "0.657 0.084 -0.017 1.256",
    },
}
MODELS = {
    "map": "MAP", "deep-ensemble": "Deep Ensemble", "mc-dropout": "MCD", "swag": "SWAG", "multi-swag": "MultiSWAG",
    "laplace, last layer": "LL Laplace", "vi": "BBB", "rank1-vi": "Rank1-VI", "ivon": "iVON", "sngp": "SNGP",
    "csghmc": None, "laplace, all layers": None, "ivon, factor 10": "iVON", "sngp, factor 20": "SNGP",
}


def main(runs, reference=None):
    scores = pathlib.Path(runs) / "scores.csv"
    if not scores.exists():
        text = SUITE.read_text()
        if reference:
            text = text.replace("# reference =", f'reference = "{pathlib.Path(reference).resolve()}" #')
        suite = pathlib.Path(runs) / "suite.toml"
        suite.parent.mkdir(parents=True, exist_ok=True)
        suite.write_text(text)
        subprocess.run(["dubio", "run", suite, "--runs", runs, "--jobs", "2", "-q"], check=True, stdout=sys.stderr)
        with scores.open("w") as file:
            subprocess.run(["dubio", "score", runs], check=True, stdout=file)
    with scores.open() as file:
        tables(list(csv.DictReader(file)))


def tables(rows):
    """The test set, and the mean over all corruptions of each severity."""
    found = collections.defaultdict(list)
    intervals = {}
    for row in rows:
        if not row["value"]:
            continue
        corrupted = re.fullmatch(r"shift\.(\w+)\.(\d)", row["split"])
        severity = int(corrupted[2]) if corrupted else 0 if row["split"] == "test" else None
        found[row["method"], severity, row["score"]].append(float(row["value"]))
        if severity == 0 and row["lo"]:
            intervals[row["method"], row["score"]] = (float(row["hi"]) - float(row["lo"])) / 2
    methods = [method for method in MODELS if (method, 0, "nll") in found]
    for severity, published in PUBLISHED.items():
        count = len(found[methods[0], severity, "nll"])
        print(f"\n### {'Test set' if severity == 0 else f'Severity {severity}, mean of {count} corruptions'}\n")
        names = SCORES if severity == 0 else SCORES[:4]
        print("| method | " + " | ".join(names) + " | published: " + " | ".join(names) + " |")
        print("| --- |" + " ---: |" * (2 * len(names)))
        for method in methods:
            own = [cell(found[method, severity, score], intervals.get((method, score)) if severity == 0 else None) for score in names]
            theirs = published.get(MODELS[method], "").split() or ["—"] * len(names)
            print(f"| {method} | " + " | ".join(own + theirs) + " |")
    print("\n### SVHN as out-of-distribution data, AUROC\n\n| method | confidence | total | model |\n| --- | ---: | ---: | ---: |")
    for method in methods:
        cells = [cell(found[method, 0, f"ood.svhn-test.auroc.{kind}"]) for kind in ("confidence", "total", "model")]
        print(f"| {method} | " + " | ".join(cells) + " |")


def cell(values, half_width=None):
    if not values:
        return "—"
    return f"{statistics.mean(values):.3f}" + (f" ± {half_width:.3f}" if half_width else "")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
