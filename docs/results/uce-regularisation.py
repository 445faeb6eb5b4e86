#!/usr/bin/env python3
"""Runs suites/uce-regularisation.toml and prints its scores as they stand and at the optimal temperature.

    docs/results/uce-regularisation.py RUNS

Needs `dubio` on the path and Fashion-MNIST below $DUBIO_DATA. Finished runs are not run again. Each cell is the mean
over the seeds and their standard deviation.
"""
import collections
import csv
import pathlib
import statistics
import subprocess
import sys

SUITE = pathlib.Path(__file__).resolve().parents[2] / "suites" / "uce-regularisation.toml"
# Score, heading, factor, decimals.
SCORES = [("accuracy", "accuracy, %", 100, 1), ("ece", "ECE, %", 100, 2), ("ace", "ACE, %", 100, 2), ("uce", "UCE, %", 100, 2),
          ("mmce", "MMCE, %", 100, 2), ("brier", "Brier", 1, 3), ("nll", "NLL", 1, 3)]
TERMS = ["unregularised", "entropy", "mmce", "uce", "classwise-uce", "focal", "label-smoothing"]


def main(runs):
    subprocess.run(["dubio", "run", SUITE, "--runs", runs, "-q"], check=True, stdout=sys.stderr)
    names = ["temperature"] + [prefix + name for prefix in ("", "calibrated.") for name, *_ in SCORES]
    command = ["dubio", "score", runs, "--resamples", "0", "--scores", ",".join(names)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in csv.DictReader(text.splitlines()):
        if row["split"] == "test":
            found[row["method"]][row["score"]].append(float(row["value"]))
    for title, prefix in [("As trained", ""), ("At the optimal temperature", "calibrated.")]:
        print(f"\n### {title}\n\n| loss term | seeds | " + " | ".join(heading for _, heading, *_ in SCORES)
              + (" |" if prefix else " | optimal temperature |"))
        print("| --- |" + " ---: |" * (len(SCORES) + (1 if prefix else 2)))
        for method, own in sorted(found.items(), key=lambda item: TERMS.index(item[0])):
            cells = [cell(own[prefix + name], factor, decimals) for name, _, factor, decimals in SCORES]
            cells += [] if prefix else [cell(own["temperature"], 1, 2)]
            print(f"| {method} | {len(own['nll'])} | " + " | ".join(cells) + " |")


def cell(values, factor, decimals):
    spread = f" ± {statistics.stdev(values) * factor:.{decimals}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values) * factor:.{decimals}f}{spread}"


if __name__ == "__main__":
    main(sys.argv[1])
