#!/usr/bin/env python3
"""Posterior predictive checks of an ensemble and of dropout on corrupted CIFAR-10, beside Table 4 of Gopal 2021.

    docs/results/gopal-cifar.py RUNS

Runs suites/gopal-cifar.toml, which needs `dubio` on the path, a GPU, and CIFAR-10 below $DUBIO_DATA. As in the paper's
appendix G.1, members get a temperature each, fitted together for their mean on the leading fifth of the clean test set; the
checks are of the other four fifths, clean or corrupted. The same without temperatures is beside it. Results go to
RUNS/checks.csv; if that is there, only the tables are printed.
"""
import concurrent.futures
import csv
import json
import pathlib
import re
import subprocess
import sys

SUITE = pathlib.Path(__file__).resolve().parents[2] / "suites" / "gopal-cifar.toml"
MODELS = [("deep-ensemble", "independent"), ("deep-ensemble", "bayesian"), ("mc-dropout", "bayesian")]
# Checks that pass at severities 1 to 5, of 19 corruptions: ECE, accuracy.
PUBLISHED = {
    ("deep-ensemble", "independent"): ([16, 13, 9, 4, 2], [15, 10, 8, 4, 2]),
    ("deep-ensemble", "bayesian"): ([18, 15, 15, 14, 7], [18, 15, 15, 14, 7]),
    ("mc-dropout", "bayesian"): ([19, 18, 17, 16, 14], [18, 16, 15, 13, 12]),
}


def main(runs):
    checks = pathlib.Path(runs) / "checks.csv"
    if not checks.exists():
        subprocess.run(["dubio", "run", SUITE, "--runs", runs, "--jobs", "2", "-q"], check=True, stdout=sys.stderr)
        rows = []
        for record in pathlib.Path(runs).glob("*/record.json"):
            label = json.loads(record.read_text())["label"]
            if any(label == method for method, _ in MODELS):
                rows += checked(record.parent, label)
        with checks.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    with checks.open() as file:
        tables(list(csv.DictReader(file)))


def checked(folder, label):
    """Every check of every file of a run."""
    files = [folder / "test.npz", *sorted(folder.glob("shift.*.npz"))]
    jobs = [(file, mode, temperatures) for file in files for method, mode in MODELS if method == label for temperatures in (1, 0)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return [row for rows in pool.map(lambda job: one(label, *job), jobs) for row in rows]


def one(label, file, mode, temperatures):
    command = ["dubio", "check", file, "--mode", mode, "--rule", "range", "--statistic", "ece", "--statistic", "accuracy", "--json"]
    if temperatures:
        command += ["--recalibrate", "per-member", "--recalibrate-on", file.with_name("test.npz")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = []
    for statistic, result in json.loads(text)["statistics"].items():
        inside = result["lo"] <= result["observed"] <= result["hi"]
        rows.append({"method": label, "mode": mode, "temperatures": temperatures, "split": file.stem, "statistic": statistic,
                     "observed": result["observed"], "p_value": result["p_value"], "sharpness": result["sharpness"],
                     "range": int(result["passes"]), "interval": int(inside)})
    return rows


def tables(rows):
    severities = sorted({split[-1] for split in (row["split"] for row in rows) if re.fullmatch(r"shift\.\w+\.\d", split)})
    for statistic, which in [("ece", 0), ("accuracy", 1)]:
        print(f"\n### Checks of {statistic} that pass\n")
        print("| model | temperatures | test set |" + "".join(f" severity {s} |" for s in severities) + "".join(f" published: {s} |" for s in severities))
        print("| --- | --- |" + " ---: |" * (1 + 2 * len(severities)))
        for model in MODELS:
            for temperatures, title in [("1", "one for each member"), ("0", "none")]:
                own = [row for row in rows if (row["method"], row["mode"]) == model and row["statistic"] == statistic and row["temperatures"] == temperatures]
                clean = [row for row in own if row["split"] == "test"]
                cells = [passed(clean)] + [passed([row for row in own if row["split"].endswith(f".{s}")]) for s in severities]
                theirs = [f"{PUBLISHED[model][which][int(s) - 1]} of 19" if temperatures == "1" else "—" for s in severities]
                print(f"| {model[0]}, {model[1]} | {title} | " + " | ".join(cells + theirs) + " |")


def passed(rows):
    """By the rule of the paper, and by the central interval of 95 % in brackets."""
    by = lambda rule: sum(int(row[rule]) for row in rows)
    return f"{by('range')} of {len(rows)} ({by('interval')})"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
