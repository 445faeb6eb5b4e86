#!/usr/bin/env python3
"""Runs suites/beyond-uci.toml and prints its tables beside Tables 4 to 7 of Seligmann et al. 2023.

    docs/results/beyond-uci.py RUNS

Needs `dubio` on the path, and boston and energy below $DUBIO_DATA. Finished runs are not run again. Each cell is the
mean over the splits and its standard error.
"""
import collections
import csv
import math
import pathlib
import statistics
import subprocess
import sys

SUITE = pathlib.Path(__file__).resolve().parents[2] / "suites" / "beyond-uci.toml"
COLUMNS = [("ll", "log-likelihood"), ("lml", "LML per example"), ("mse", "MSE"), ("qce", "QCE"), ("sqce", "sQCE")]
# Label here and model there.
MODELS = {
    "map, 40 epochs": "MAP", "map, 100 epochs": "MAP", "map, 200 epochs": "MAP",
    "deep-ensemble, 40 epochs": "Deep Ensemble", "deep-ensemble, 100 epochs": "Deep Ensemble",
    "deep-ensemble, 200 epochs": "Deep Ensemble", "mc-dropout": "MCD", "multi-mc-dropout": "MultiMCD",
    "swag": "SWAG", "multi-swag": "MultiSWAG", "laplace, last layer": "LL Laplace",
    "multi-laplace, last layer": "LL MultiLaplace", "laplace, all layers": None, "vi, kl 0.2": "BBB",
    "vi, kl 0.02": "BBB", "multi-vi, kl 0.02": "MultiBBB", "rank1-vi": "Rank-1 VI", "ivon, prior precision 200": "iVON",
    "ivon, prior precision 1": "iVON", "svgd": "SVGD",
}
# Mean and what the paper prints behind its ±: LML, MSE, QCE, sQCE.
PUBLISHED = {
    "boston:standard": {
        "MAP": ["-2.643 ± 0.054", "10.707 ± 0.794", "0.036 ± 0.001", "-0.018 ± 0.012"],
        "Deep Ensemble": ["-2.330 ± 0.015", "6.034 ± 0.413", "0.099 ± 0.006", "0.099 ± 0.006"],
        "MCD": ["-2.836 ± 0.095", "13.531 ± 1.401", "0.044 ± 0.008", "-0.031 ± 0.019"],
        "MultiMCD": ["-2.328 ± 0.010", "5.789 ± 0.077", "0.101 ± 0.002", "0.101 ± 0.002"],
        "SWAG": ["-2.495 ± 0.014", "6.044 ± 0.214", "0.128 ± 0.003", "0.128 ± 0.003"],
        "MultiSWAG": ["-2.511 ± 0.002", "7.071 ± 0.011", "0.139 ± 0.002", "0.139 ± 0.002"],
        "LL Laplace": ["-2.515 ± 0.058", "9.498 ± 2.347", "0.099 ± 0.020", "0.099 ± 0.020"],
        "LL MultiLaplace": ["-2.467 ± 0.031", "5.850 ± 0.395", "0.157 ± 0.005", "0.157 ± 0.005"],
        "BBB": ["-2.475 ± 0.096", "7.716 ± 1.053", "0.033 ± 0.004", "-0.006 ± 0.012"],
        "MultiBBB": ["-2.529 ± 0.003", "7.212 ± 0.160", "0.172 ± 0.005", "0.172 ± 0.005"],
        "Rank-1 VI": ["-2.531 ± 0.103", "8.983 ± 1.451", "0.033 ± 0.008", "0.006 ± 0.016"],
        "iVON": ["-2.793 ± 0.006", "9.853 ± 0.318", "0.215 ± 0.003", "0.215 ± 0.003"],
        "SVGD": ["-2.614 ± 0.017", "8.397 ± 0.642", "0.143 ± 0.010", "0.143 ± 0.010"],
    },
    "boston:gap": {
        "MAP": ["-2.850 ± 0.207", "14.775 ± 3.635", "0.040 ± 0.013", "-0.012 ± 0.024"],
        "Deep Ensemble": ["-2.767 ± 0.183", "13.012 ± 3.034", "0.054 ± 0.011", "0.045 ± 0.017"],
        "MCD": ["-2.892 ± 0.210", "15.488 ± 3.661", "0.034 ± 0.007", "-0.001 ± 0.018"],
        "MultiMCD": ["-2.730 ± 0.132", "12.760 ± 2.838", "0.054 ± 0.013", "0.045 ± 0.019"],
        "SWAG": ["-2.743 ± 0.042", "12.940 ± 1.742", "0.113 ± 0.017", "0.112 ± 0.017"],
        "MultiSWAG": ["-2.694 ± 0.047", "11.941 ± 1.874", "0.118 ± 0.020", "0.117 ± 0.020"],
        "LL Laplace": ["-2.873 ± 0.117", "15.294 ± 3.687", "0.074 ± 0.018", "0.072 ± 0.020"],
        "LL MultiLaplace": ["-2.832 ± 0.106", "13.445 ± 3.209", "0.106 ± 0.020", "0.104 ± 0.022"],
        "BBB": ["-3.829 ± 1.009", "17.238 ± 7.435", "0.114 ± 0.024", "-0.113 ± 0.024"],
        "MultiBBB": ["-2.734 ± 0.115", "14.071 ± 2.925", "0.065 ± 0.018", "0.054 ± 0.026"],
        "Rank-1 VI": ["-2.806 ± 0.193", "13.513 ± 2.930", "0.067 ± 0.025", "0.018 ± 0.043"],
        "iVON": ["-2.930 ± 0.023", "17.904 ± 2.300", "0.152 ± 0.015", "0.151 ± 0.015"],
        "SVGD": ["-2.855 ± 0.184", "14.848 ± 3.170", "0.039 ± 0.014", "-0.003 ± 0.025"],
    },
    "energy:standard": {
        "MAP": ["-1.702 ± 0.094", "1.760 ± 0.289", "0.051 ± 0.020", "-0.020 ± 0.036"],
        "Deep Ensemble": ["-1.235 ± 0.003", "0.177 ± 0.007", "0.270 ± 0.002", "0.270 ± 0.002"],
        "MCD": ["-1.709 ± 0.079", "1.779 ± 0.252", "0.049 ± 0.016", "-0.022 ± 0.032"],
        "MultiMCD": ["-1.236 ± 0.005", "0.212 ± 0.015", "0.260 ± 0.003", "0.260 ± 0.003"],
        "SWAG": ["-2.127 ± 0.029", "2.198 ± 0.274", "0.210 ± 0.006", "0.210 ± 0.006"],
        "MultiSWAG": ["-2.143 ± 0.002", "2.454 ± 0.018", "0.220 ± 0.001", "0.220 ± 0.001"],
        "LL Laplace": ["-1.653 ± 0.026", "0.608 ± 0.110", "0.245 ± 0.019", "0.245 ± 0.019"],
        "LL MultiLaplace": ["-1.606 ± 0.016", "0.235 ± 0.033", "0.316 ± 0.008", "0.316 ± 0.008"],
        "BBB": ["-0.976 ± 0.123", "0.413 ± 0.103", "0.055 ± 0.017", "0.030 ± 0.032"],
        "MultiBBB": ["-1.022 ± 0.021", "0.309 ± 0.075", "0.210 ± 0.012", "0.210 ± 0.012"],
        "Rank-1 VI": ["-1.029 ± 0.166", "0.459 ± 0.145", "0.054 ± 0.019", "0.019 ± 0.036"],
        "iVON": ["-2.463 ± 0.006", "6.620 ± 0.191", "0.161 ± 0.010", "0.161 ± 0.010"],
        "SVGD": ["-1.322 ± 0.040", "0.550 ± 0.121", "0.159 ± 0.027", "0.159 ± 0.027"],
    },
    "energy:gap": {
        "MAP": ["-7.723 ± 7.553", "34.444 ± 41.620", "0.247 ± 0.065", "0.043 ± 0.195"],
        "Deep Ensemble": ["-4.360 ± 3.066", "31.419 ± 36.845", "0.272 ± 0.060", "0.072 ± 0.207"],
        "MCD": ["-10.299 ± 10.685", "48.491 ± 58.682", "0.261 ± 0.065", "0.041 ± 0.206"],
        "MultiMCD": ["-6.744 ± 6.151", "41.030 ± 49.269", "0.272 ± 0.061", "0.073 ± 0.207"],
        "SWAG": ["-3.655 ± 1.469", "30.372 ± 28.902", "0.218 ± 0.084", "0.011 ± 0.183"],
        "MultiSWAG": ["-3.110 ± 0.815", "25.362 ± 22.428", "0.192 ± 0.059", "0.034 ± 0.152"],
        "LL Laplace": ["-7.009 ± 4.256", "45.505 ± 37.787", "0.247 ± 0.040", "0.116 ± 0.119"],
        "LL MultiLaplace": ["-5.549 ± 2.983", "38.452 ± 31.657", "0.270 ± 0.046", "0.142 ± 0.127"],
        "BBB": ["-64.268 ± 79.182", "43.670 ± 52.833", "0.199 ± 0.131", "-0.101 ± 0.184"],
        "MultiBBB": ["-22.150 ± 25.068", "50.502 ± 58.432", "0.236 ± 0.110", "-0.073 ± 0.202"],
        "Rank-1 VI": ["-72.412 ± 92.191", "49.099 ± 60.606", "0.191 ± 0.133", "-0.109 ± 0.178"],
        "iVON": ["-3.367 ± 0.903", "21.546 ± 13.347", "0.109 ± 0.025", "0.038 ± 0.074"],
        "SVGD": ["-9.945 ± 10.449", "46.757 ± 56.551", "0.227 ± 0.067", "0.037 ± 0.182"],
    },
}


def scores(runs):
    """Scores of the test set of every run, by table and splits, label and score."""
    command = ["dubio", "score", runs, "--resamples", "0", "--scores", "nll,lml,mse,qce,sqce"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in csv.DictReader(text.splitlines()):
        if row["split"] == "test":
            value = float(row["value"])
            name, value = {"nll": ("ll", -value), "lml": ("lml", value / int(row["n"]))}.get(row["score"], (row["score"], value))
            found[row["data"].rsplit("/", 1)[0], row["method"]][name].append(value)
    return found


def cell(values):
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{statistics.mean(values):.3f} ± {error:.3f}"


def main(runs):
    subprocess.run(["dubio", "run", SUITE, "--runs", runs, "-q"], check=True, stdout=sys.stderr)
    found = scores(runs)
    for table, published in PUBLISHED.items():
        print(f"\n### {table}\n\n| method | splits | " + " | ".join(title for _, title in COLUMNS) + " | published: LML | MSE | QCE | sQCE |")
        print("| --- |" + " ---: |" * (len(COLUMNS) + 5))
        for label, model in MODELS.items():
            own = found.get((table, label))
            if own:
                theirs = published.get(model, ["—"] * 4)
                print(f"| {label} | {len(own['ll'])} | " + " | ".join(cell(own[name]) for name, _ in COLUMNS) + " | " + " | ".join(theirs) + " |")


if __name__ == "__main__":
    main(sys.argv[1])
