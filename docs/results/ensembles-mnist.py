#!/usr/bin/env python3
"""Runs suites/ensembles-mnist.toml and prints its tables: scores by the number of samples, deep ensemble equivalents,
test-time augmentation.

    docs/results/ensembles-mnist.py RUNS

Needs `dubio` on the path and Fashion-MNIST below $DUBIO_DATA. Runs go to the folder that is named; what is there
already is not done again. About an hour on two cores.
"""
import csv
import json
import pathlib
import subprocess
import sys

SAMPLES = [1, 2, 4, 8, 20, 50]
SCORES = [("accuracy", "accuracy, %", 100, 2), ("nll", "NLL", 1, 4), ("calibrated.nll", "calibrated NLL", 1, 4), ("ece", "ECE", 1, 4)]


def main(runs):
    suite = pathlib.Path(__file__).resolve().parents[2] / "suites" / "ensembles-mnist.toml"
    subprocess.run(["dubio", "run", suite, "--runs", runs], check=True, stdout=sys.stderr)
    planned = subprocess.run(["dubio", "plan", suite, "--runs", runs, "--json"], check=True, capture_output=True)
    files = {run["label"]: pathlib.Path(runs) / run["id"] / "test.npz" for run in json.loads(planned.stdout)}
    baseline = files.pop("deep-ensemble")
    curves(baseline, files)
    augmented(runs, ["deep-ensemble", *files])


def curves(baseline, files):
    command = ["dubio", "dee", "--baseline", baseline, *files.values(), "--names", ",".join(files), "--json",
               "--samples", ",".join(map(str, SAMPLES)), "--score", "calibrated.nll,nll"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    for metric, title in [("calibrated.nll", "Calibrated NLL"), ("nll", "NLL")]:
        print(f"\n### {title} and, in brackets, the deep ensemble equivalent\n")
        print("| method |" + "".join(f" {k} sample{'s' * (k > 1)} |" for k in SAMPLES))
        print("| --- |" + " ---: |" * len(SAMPLES))
        own = [row for row in rows if row["metric"] == metric]
        for method in dict.fromkeys(row["method"] for row in own):
            at = {row["n_samples"]: row for row in own if row["method"] == method}
            name = "deep-ensemble" if method == baseline.stem else method
            print(f"| {name} | " + " | ".join(cell(at.get(k), name) for k in SAMPLES) + " |")


def cell(row, method):
    if row is None:
        return "—"
    if method == "deep-ensemble":
        return f"{row['value']:.4f}"
    dee = row["dee"] if isinstance(row["dee"], str) else f"{row['dee']:.1f}"
    return f"{row['value']:.4f} ({dee})"


def augmented(runs, methods):
    names = ",".join(name for name, *_ in SCORES)
    command = ["dubio", "score", runs, "--scores", names]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {(row["method"], row["split"], row["score"]): row for row in csv.DictReader(text.splitlines())}
    print("\n### All samples, on the original and on augmented images\n")
    print("| method |" + "".join(f" {title} | augmented |" for _, title, *_ in SCORES))
    print("| --- |" + " ---: | ---: |" * len(SCORES))
    for method in methods:
        cells = []
        for score, _, scale, digits in SCORES:
            for split in ("test", "augmented"):
                row = found[method, split, score]
                text = f"{scale * float(row['value']):.{digits}f}"
                if row["lo"]:
                    text += f" [{scale * float(row['lo']):.{digits}f}, {scale * float(row['hi']):.{digits}f}]"
                cells.append(text)
        print(f"| {method} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
