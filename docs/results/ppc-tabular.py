#!/usr/bin/env python3
"""Runs suites/ppc-tabular.toml and prints posterior predictive checks beside Tables 2 and 3 of Gopal 2021.

    docs/results/ppc-tabular.py RUNS

Needs `dubio` on the path, the UCI tables below $DUBIO_DATA, and numpy. Finished runs are not run again. MSE is that of
standardised targets; it, PICP and calibration error are means over the splits with their standard deviation.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

SUITE = pathlib.Path(__file__).resolve().parents[2] / "suites" / "ppc-tabular.toml"
DROPOUT = "mc-dropout"
PASSES = "mc-dropout, without noise"
# By table and model: MSE, PICP, checks of PICP passed, calibration error, checks of it passed; of 20 seeds. In brackets
# those that pass with labels drawn independently.
PUBLISHED = {
    "boston": {
        "conditional-flow": ["0.13 ± 0.06", "0.93 ± 0.04", "14", "0.3 ± 0.3", "19"],
        "conditional-gaussian": ["0.14 ± 0.07", "0.93 ± 0.03", "17", "0.4 ± 0.3", "19"],
        "bayesian-ridge": ["0.28 ± 0.08", "0.95 ± 0.03", "19", "0.6 ± 0.4", "19"],
        "mc-dropout": ["0.11 ± 0.05", "0.50 ± 0.07", "2 (0)", "3.4 ± 0.8", "20 (0)"],
        "sqr": ["0.11 ± 0.05", "0.73 ± 0.08", "0", "1.0 ± 0.6", "12"],
    },
    "concrete": {
        "conditional-flow": ["0.09 ± 0.03", "0.92 ± 0.03", "13", "0.2 ± 0.2", "19"],
        "conditional-gaussian": ["0.09 ± 0.03", "0.91 ± 0.02", "13", "0.4 ± 0.4", "16"],
        "bayesian-ridge": ["0.40 ± 0.07", "0.95 ± 0.03", "17", "0.18 ± 0.08", "20"],
        "mc-dropout": ["0.07 ± 0.03", "0.69 ± 0.05", "18 (0)", "1.1 ± 0.6", "20 (2)"],
        "sqr": ["0.07 ± 0.03", "0.74 ± 0.04", "0", "0.7 ± 0.4", "9"],
    },
    "energy": {
        "conditional-flow": ["0.0022 ± 0.0006", "0.96 ± 0.02", "18", "0.4 ± 0.4", "18"],
        "conditional-gaussian": ["0.0030 ± 0.0009", "0.97 ± 0.03", "16", "0.6 ± 0.3", "15"],
        "bayesian-ridge": ["0.09 ± 0.02", "0.89 ± 0.04", "7", "0.5 ± 0.2", "16"],
        "mc-dropout": ["0.0026 ± 0.0010", "0.97 ± 0.02", "15 (18)", "0.6 ± 0.5", "1 (13)"],
        "sqr": ["0.0028 ± 0.0012", "0.97 ± 0.03", "17", "0.9 ± 0.6", "13"],
    },
    "wine-quality-red": {
        "conditional-flow": ["0.6 ± 0.2", "0.90 ± 0.02", "5", "0.24 ± 0.14", "17"],
        "conditional-gaussian": ["0.59 ± 0.09", "0.95 ± 0.02", "17", "0.4 ± 0.2", "12"],
        "bayesian-ridge": ["0.63 ± 0.11", "0.95 ± 0.02", "18", "0.18 ± 0.13", "18"],
        "mc-dropout": ["0.57 ± 0.09", "0.36 ± 0.04", "0 (0)", "4.3 ± 0.6", "20 (0)"],
        "sqr": ["0.59 ± 0.10", "0.81 ± 0.09", "1", "1.0 ± 0.7", "3"],
    },
    "yacht": {
        "conditional-flow": ["0.004 ± 0.003", "0.95 ± 0.04", "18", "1.4 ± 1.4", "15"],
        "conditional-gaussian": ["0.004 ± 0.002", "0.99 ± 0.02", "20", "2.0 ± 1.4", "12"],
        "bayesian-ridge": ["0.35 ± 0.10", "0.94 ± 0.03", "19", "0.6 ± 0.4", "20"],
        "mc-dropout": ["0.004 ± 0.002", "0.96 ± 0.04", "8 (19)", "2.8 ± 2.1", "8 (10)"],
    },
    "kin8nm": {
        "conditional-flow": ["0.081 ± 0.013", "0.952 ± 0.006", "20", "0.11 ± 0.11", "12"],
        "conditional-gaussian": ["0.071 ± 0.005", "0.947 ± 0.007", "19", "0.04 ± 0.04", "17"],
    },
    "naval": {
        "conditional-flow": ["0.009 ± 0.004", "0.98 ± 0.03", "0", "1.6 ± 1.6", "0"],
        "conditional-gaussian": ["0.012 ± 0.006", "0.9995 ± 0.0007", "0", "2.5 ± 0.3", "0"],
        "bayesian-ridge": ["0.055 ± 0.004", "1.0 ± 0", "0", "8.033 ± 0.006", "0"],
        "mc-dropout": ["0.005 ± 0.002", "0.98 ± 0.02", "1 (0)", "1.3 ± 0.8", "14 (0)"],
        "sqr": ["0.0052 ± 0.0012", "0.998 ± 0.002", "0", "1.7 ± 0.6", "0"],
    },
    "power": {
        "conditional-flow": ["0.048 ± 0.007", "0.952 ± 0.007", "19", "0.05 ± 0.05", "14"],
        "conditional-gaussian": ["0.048 ± 0.006", "0.947 ± 0.010", "15", "0.06 ± 0.10", "15"],
        "bayesian-ridge": ["0.072 ± 0.007", "0.964 ± 0.007", "8", "0.03 ± 0.03", "19"],
        "mc-dropout": ["0.046 ± 0.007", "0.59 ± 0.02", "20 (0)", "2.0 ± 0.3", "20 (0)"],
        "sqr": ["0.048 ± 0.007", "0.93 ± 0.02", "10", "0.2 ± 0.2", "5"],
    },
}


def check(file, mode):
    command = ["dubio", "check", file, "--mode", mode, "--statistic", "picp,quantile_calibration", "--json", "--threads", "1", "-q"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["statistics"]


def without_noise(file, folder):
    """The same passes, each certain of its own mean: the standard deviation is as good as 0."""
    arrays = dict(np.load(file))
    arrays["std"] = np.full_like(arrays["std"], 1e-4 * arrays["targets"].std())
    np.savez(pathlib.Path(folder) / "without.npz", **arrays)
    return pathlib.Path(folder) / "without.npz"


def squared_error(arrays):
    """MSE of the predictive mean; quantiles stand for equal fractions of the distribution."""
    values = arrays.get("mean", arrays.get("samples", arrays.get("quantiles")))
    return float(np.mean((np.atleast_2d(values).mean(axis=0) - arrays["targets"]) ** 2))


def summary(file):
    """MSE, targets, and both checks in both readings of the members."""
    arrays = dict(np.load(file))
    several = "mean" in arrays and np.ndim(arrays["mean"]) == 2 and len(arrays["mean"]) > 1
    bayesian = check(file, "bayesian")
    return squared_error(arrays), arrays["targets"], bayesian, check(file, "independent") if several else None


def cells(summaries):
    variance = np.var(np.concatenate([targets for _, targets, _, _ in summaries]))
    spread = lambda values: f"{statistics.mean(values):.3g}" + (f" ± {statistics.stdev(values):.2g}" if len(values) > 1 else "")
    row = [spread([mse / variance for mse, *_ in summaries])]
    for name in ("picp", "quantile_calibration"):
        row.append(spread([bayesian[name]["observed"] for _, _, bayesian, _ in summaries]))
        passed = sum(bayesian[name]["passes"] for _, _, bayesian, _ in summaries)
        independent = [other[name]["passes"] for *_, other in summaries if other]
        row.append(f"{passed}" + (f" ({sum(independent)})" if independent else ""))
    return row


def main(runs):
    subprocess.run(["dubio", "run", SUITE, "--runs", runs, "-q"], check=True, stdout=sys.stderr)
    planned = subprocess.run(["dubio", "plan", SUITE, "--runs", runs, "--json"], check=True, capture_output=True)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for run in json.loads(planned.stdout):
            file = pathlib.Path(runs) / run["id"] / "test.npz"
            if file.exists():
                models = found.setdefault(run["settings"]["data"].split(":")[0], {})
                models.setdefault(run["label"], []).append(summary(file))
                if run["label"] == DROPOUT:
                    models.setdefault(PASSES, []).append(summary(without_noise(file, folder)))
    for table, published in PUBLISHED.items():
        if table not in found:
            continue
        heads = ["MSE", "PICP", "PICP checks passed", "calibration error", "calibration checks passed"]
        print(f"\n### {table}\n\n| model | splits | " + " | ".join(heads) + " | published: " + " | ".join(heads) + " |")
        print("| --- |" + " ---: |" * 11)
        for label, summaries in found[table].items():
            theirs = published.get(DROPOUT if label == PASSES else label, ["—"] * 5) if label != DROPOUT else ["—"] * 5
            print(f"| {label} | {len(summaries)} | " + " | ".join(cells(summaries) + theirs) + " |")


if __name__ == "__main__":
    main(sys.argv[1])
