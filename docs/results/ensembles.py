#!/usr/bin/env python3
"""Runs a suite of ensembles and prints its tables: scores by the number of samples, deep ensemble equivalents,
test-time augmentation.

    docs/results/ensembles.py suites/ensembles-mnist.toml RUNS
    docs/results/ensembles.py suites/ensembles-cifar.toml RUNS
    docs/results/ensembles.py suites/ensembles-cifar100.toml RUNS

Needs `dubio` on the path and Fashion-MNIST, CIFAR-10 or CIFAR-100 below $DUBIO_DATA. Finished runs are not run again.
The first takes about an hour on two cores, the second half an hour on a GPU.
"""
import csv
import json
import pathlib
import subprocess
import sys

SAMPLES = {
    "ensembles-mnist": [1, 2, 4, 8, 20, 50], "ensembles-cifar": [1, 2, 5, 10, 20, 50], "ensembles-cifar100": [1, 2, 5, 10, 20, 50],
}
SCORES = [("accuracy", "accuracy, %", 100, 2), ("nll", "NLL", 1, 4), ("calibrated.nll", "calibrated NLL", 1, 4), ("ece", "ECE", 1, 4)]


def main(suite, runs):
    subprocess.run(["dubio", "run", suite, "--runs", runs], check=True, stdout=sys.stderr)
    planned = subprocess.run(["dubio", "plan", suite, "--runs", runs, "--json"], check=True, capture_output=True)
    planned = json.loads(planned.stdout)
    for network in dict.fromkeys(run["settings"]["network"] for run in planned):
        own = [run for run in planned if run["settings"]["network"] == network]
        folders = {run["label"]: pathlib.Path(runs) / run["id"] for run in own}
        files = {label: folder / "test.npz" for label, folder in folders.items()}
        baseline, samples = files.pop("deep-ensemble"), SAMPLES[pathlib.Path(suite).stem]
        print(f"\n## {network}")
        curves(baseline, files, samples, [("calibrated.nll", "Calibrated NLL"), ("nll", "NLL")])
        # In networks of the plain deep ensemble, so that what augmentation adds is seen.
        augmented_files = {label: folder / "augmented.npz" for label, folder in folders.items()}
        augmented_files["deep-ensemble augmented"] = augmented_files.pop("deep-ensemble")
        curves(baseline, augmented_files, samples, [("calibrated.nll", "Calibrated NLL of augmented images")])
        augmented(runs, network, ["deep-ensemble", *files])


def curves(baseline, files, samples, scores):
    command = ["dubio", "dee", "--baseline", baseline, *files.values(), "--names", ",".join(files), "--json",
               "--samples", ",".join(map(str, samples)), "--score", ",".join(score for score, _ in scores)]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    for metric, title in scores:
        print(f"\n### {title} and, in brackets, the deep ensemble equivalent\n")
        print("| method |" + "".join(f" {k} sample{'s' * (k > 1)} |" for k in samples))
        print("| --- |" + " ---: |" * len(samples))
        own = [row for row in rows if row["metric"] == metric]
        for method in dict.fromkeys(row["method"] for row in own):
            at = {row["n_samples"]: row for row in own if row["method"] == method}
            name = "deep-ensemble" if method == baseline.stem else method
            print(f"| {name} | " + " | ".join(cell(at.get(k), name) for k in samples) + " |")


def cell(row, method):
    if row is None:
        return "—"
    if method == "deep-ensemble":
        return f"{row['value']:.4f}"
    dee = row["dee"] if isinstance(row["dee"], str) else f"{row['dee']:.1f}"
    return f"{row['value']:.4f} ({dee})"


def augmented(runs, network, methods):
    names = ",".join(name for name, *_ in SCORES)
    command = ["dubio", "score", runs, "--scores", names]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [row for row in csv.DictReader(text.splitlines()) if row["network"] == network]
    found = {(row["method"], row["split"], row["score"]): row for row in rows}
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
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
