#!/usr/bin/env python3
"""Runs suites/ursabench-medium.toml and prints its tables beside Tables 12 to 14 of Vadera et al. 2020.

    docs/results/ursabench-medium.py RUNS

Needs `dubio` on the path, a GPU, and CIFAR-10 and SVHN below $DUBIO_DATA. Finished runs are not run again. Scores go to
RUNS/scores.csv; if that is there, only the tables are printed.
"""
import csv
import pathlib
import subprocess
import sys

SUITE = pathlib.Path(__file__).resolve().parents[2] / "suites" / "ursabench-medium.toml"
# Title, and for each column its score and the published values of WideResNet-28-10, in the order of MODELS.
MODELS = ["SGLD", "cSGLD", "SGHMC", "cSGHMC", "SWAG", "PCA + ESS", "MC dropout", "SGD"]
TABLES = [
    ("Table 12: predictive performance", {
        "accuracy": [0.965, 0.967, 0.965, 0.957, 0.919, 0.951, 0.957, 0.963],
        "nll": [0.113, 0.104, 0.114, 0.196, 0.260, 0.177, 0.158, 0.138],
        "brier": [0.054, 0.050, 0.053, 0.072, 0.121, 0.082, 0.067, 0.060],
        "ece": [0.004, 0.006, 0.004, 0.079, 0.028, 0.054, 0.019, 0.018],
    }),
    ("Table 13: SVHN, AUROC", {
        "ood.svhn-test.auroc.model": [0.951, 0.968, 0.956, 0.864, 0.914, 0.897, 0.897, None],
        "ood.svhn-test.auroc.total": [0.963, 0.974, 0.967, 0.952, 0.943, 0.970, 0.922, 0.963],
    }),
    ("Table 14: misclassification", {
        "misclassification.auroc.model": [0.952, 0.949, 0.954, 0.889, 0.900, 0.918, 0.946, None],
        "misclassification.auroc.total": [0.954, 0.952, 0.956, 0.936, 0.915, 0.931, 0.947, 0.941],
        "misclassification.auroc.confidence": [0.955, 0.953, 0.958, 0.945, 0.916, 0.948, 0.947, 0.942],
        "misclassification.aupr.model": [0.402, 0.354, 0.380, 0.298, 0.375, 0.337, 0.432, None],
        "misclassification.aupr.total": [0.414, 0.383, 0.415, 0.382, 0.468, 0.387, 0.467, 0.390],
        "misclassification.aupr.confidence": [0.435, 0.406, 0.439, 0.452, 0.468, 0.478, 0.467, 0.387],
    }),
]
# Label here and method there.
METHODS = {
    "sgd": "SGD", "mc-dropout": "MC dropout", "swag": "SWAG", "subspace": "PCA + ESS", "sgld, T = 1 over N": "SGLD",
    "csgld, T = 1 over N": "cSGLD", "sghmc, T = 1 over N": "SGHMC", "csghmc, T = 1 over N": "cSGHMC",
}


def main(runs):
    scores = pathlib.Path(runs) / "scores.csv"
    if not scores.exists():
        subprocess.run(["dubio", "run", SUITE, "--runs", runs, "--jobs", "2", "-q"], check=True, stdout=sys.stderr)
        with scores.open("w") as file:
            subprocess.run(["dubio", "score", runs], check=True, stdout=file)
    with scores.open() as file:
        found = {(row["method"], row["score"]): row for row in csv.DictReader(file) if row["split"] == "test"}
    for title, columns in TABLES:
        print(f"\n### {title}\n\n| method |" + "".join(f" {score} | published |" for score in columns))
        print("| --- |" + " ---: |" * (2 * len(columns)))
        for method, model in METHODS.items():
            if (method, "nll") in found:
                cells = [cell(found.get((method, score)), values[MODELS.index(model)]) for score, values in columns.items()]
                print(f"| {method} | " + " | ".join(cells) + " |")


def cell(row, published):
    own = "—" if not row or not row["value"] else f"{float(row['value']):.3f}"
    if row and row["lo"]:
        own += f" [{float(row['lo']):.3f}, {float(row['hi']):.3f}]"
    return f"{own} | {'—' if published is None else f'{published:.3f}'}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
