#!/usr/bin/env python3
"""Training time and memory of every method relative to `sgd`, beside Seligmann et al. 2023, Tables 2 and 3.

    python3 benches/costs.py target/release/dubio DATA_FOLDER [REPEATS] [NETWORK] [DATA]
    python3 benches/costs.py target/release/dubio DATA_FOLDER 3 mlp-128-128 power:standard/0 tables

Every method trains the same network (default `mlp`, 784-200-200-10 on MNIST) for the same number of passes over the
data, one run at a time. Each number is the median of REPEATS seeds (default 3). Time is that of training, with the
curvature of laplace and without predictions. Memory is the peak resident set of the process. "Without the data"
subtracts the peak of `sgd` with a network of one hidden unit, so that it compares networks, gradients and optimiser
states. Run it on a quiet machine.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

EPOCHS = 4
ADAM = dict(optimiser="adam", lr=1e-3, schedule="constant")
SAMPLES = dict(samples=10)
HALF = EPOCHS // 2
SWAG = dict(epochs=HALF, collect_epochs=HALF, collect=HALF, rank=HALF, lr=0.01, **SAMPLES)
# All layers are trained for all epochs but one, the last layer for one more.
LAST = ADAM | dict(epochs=1, layers="last", structure="kfac", warm_up=dict(method="sgd", epochs=EPOCHS - 1, **ADAM))
# Label, method, settings, published time and memory relative to MAP. The paper trains variational methods with two
# draws on CIFAR-10, and gives a range over its data sets.
ROWS = [
    ("sgd", "sgd", ADAM, "1.0", "1.0"),
    ("deep-ensemble, 5 members", "deep-ensemble", dict(members=5, **ADAM), "5", "1.0"),
    ("mc-dropout", "mc-dropout", ADAM | SAMPLES, "1.0", "1.0"),
    ("swag", "swag", SWAG, "1.0 to 1.5", "~ 1.0"),
    ("laplace, last layer, kfac", "laplace", LAST, "1.0", "~ 1.0"),
    ("laplace, kfac", "laplace", ADAM | dict(structure="kfac"), "—", "—"),
    ("vi, 1 draw", "vi", dict(draws=1, **SAMPLES), "—", "~ 2"),
    ("vi, 2 draws", "vi", dict(draws=2, **SAMPLES), "5.0 to 5.7", "~ 2"),
    ("ivon, 1 draw", "ivon", dict(draws=1, **SAMPLES), "—", "~ 2"),
    ("ivon, 2 draws", "ivon", dict(draws=2, **SAMPLES), "2.8 to 3.0", "~ 2"),
    ("rank1-vi, 4 components", "rank1-vi", dict(components=4, samples=8), "3.9 to 4.0", "~ 1 + components"),
    ("svgd, 10 particles", "svgd", dict(particles=10), "4.9 to 10.0", "~ particles"),
    ("sgld", "sgld", dict(burn_in=EPOCHS - 1, samples=1), "—", "—"),
    ("sghmc", "sghmc", dict(burn_in=EPOCHS - 1, samples=1), "—", "—"),
    ("csgld", "csgld", dict(cycle_epochs=HALF, noise_epochs=1, cycle_samples=1, samples=2), "—", "—"),
    ("csghmc", "csghmc", dict(cycle_epochs=HALF, noise_epochs=1, cycle_samples=1, samples=2), "—", "—"),
    ("gaussian-dropout", "gaussian-dropout", ADAM | SAMPLES, "—", "—"),
    ("snapshot", "snapshot", dict(cycle_epochs=HALF, samples=2), "—", "—"),
    ("fge", "fge", dict(epochs=1, cycle_epochs=2, samples=2), "—", "—"),
    ("swa", "swa", dict(epochs=HALF, collect_epochs=HALF, collect=HALF), "—", "—"),
    ("sngp, 256 features", "sngp", ADAM | dict(features=256), "—", "—"),
    ("batch-ensemble, 4 members", "batch-ensemble", dict(samples=4), "—", "—"),
    ("masksembles, 4 masks", "masksembles", dict(samples=4), "—", "—"),
    ("packed-ensemble, 4 members", "packed-ensemble", dict(samples=4), "—", "—"),
    ("subspace, 10 samples", "subspace", dict(epochs=HALF, collect_epochs=HALF, collect=HALF, rank=HALF, lr=0.01, **SAMPLES), "—", "—"),
    ("distill", "distill", dict(burn_in=HALF, epochs=HALF), "—", "—"),
    # Gradients of all the data: four leapfrog steps, and one more to begin with.
    ("hmc, 1 draw of 4 leapfrog steps", "hmc", dict(burn_in=0, samples=1, leapfrog=EPOCHS, jitter=0.0), "—", "—"),
    ("nuts, 1 draw of up to 3 leapfrog steps", "nuts", dict(burn_in=0, samples=1, max_depth=2), "—", "—"),
]
# The models of tables, in the place of all others.
TABULAR = ADAM | dict(epochs=40)
TABULAR_ROWS = [
    ("sgd", "sgd", TABULAR, "—", "—"),
    ("conditional-gaussian", "conditional-gaussian", TABULAR, "—", "—"),
    ("sqr", "sqr", TABULAR | SAMPLES, "—", "—"),
    ("conditional-flow", "conditional-flow", TABULAR, "—", "—"),
    ("bayesian-ridge", "bayesian-ridge", dict(iterations=1000), "—", "—"),
]


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml(one)}" for name, one in value.items()) + " }"
    return json.dumps(value)


def entry(label, method, settings):
    told = settings.keys() & {"burn_in", "epochs", "cycle_epochs", "iterations"}
    passes = {} if told else {"epochs": EPOCHS}
    lines = [f"{name} = {toml(value)}" for name, value in (dict(label=label, method=method) | passes | settings).items()]
    return "\n".join(["[[methods]]", *lines, ""])


def suite(rows, network, data, repeats):
    rows = [entry(label, method, settings) for label, method, settings, _, _ in rows]
    head = f'title = "Costs"\npaper = "Seligmann et al. 2023"\ndata = ["{data}"]\nnetworks = ["{network}"]\nseeds = {repeats}\n'
    return "\n".join([head, *rows])


def measure(rows, binary, folder, repeats, network, data):
    """Median seconds of training and peak bytes, by label."""
    with tempfile.TemporaryDirectory() as scratch:
        file, runs = pathlib.Path(scratch) / "costs.toml", pathlib.Path(scratch) / "runs"
        file.write_text(suite(rows, network, data, repeats))
        subprocess.run([binary, "run", file, "--runs", runs, "--jobs", "1", "--dir", folder], check=True, stdout=sys.stderr)
        spent = {}
        for path in runs.glob("*/record.json"):
            record = json.loads(path.read_text())
            spent.setdefault(record["label"], []).append(record["spent"])
    median = lambda label, what: statistics.median(run[what] for run in spent[label])
    return {label: (median(label, "train_wall_secs"), median(label, "peak_bytes")) for label in spent}


def main(binary, folder, repeats=3, network="mlp", data="mnist", kind="images"):
    rows = TABULAR_ROWS if kind == "tables" else ROWS
    costs = measure(rows, binary, folder, int(repeats), network, data)
    _, floor = measure(rows[:1], binary, folder, int(repeats), "mlp-1", data)["sgd"]
    seconds, peak = costs["sgd"]
    print("| method | time | published | peak memory | without the data | published |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for label, _, _, time, memory in rows:
        own_seconds, own_peak = costs[label]
        beyond = (own_peak - floor) / (peak - floor)
        print(f"| {label} | {own_seconds / seconds:.2f} | {time} | {own_peak / peak:.2f} | {beyond:.1f} | {memory} |")
    print(f"\nsgd: {seconds:.2f} s for {rows[0][2].get('epochs', EPOCHS)} epochs, {peak / 2**20:.0f} MiB; {network} on {data}, {repeats} seeds.")


if __name__ == "__main__":
    main(*sys.argv[1:])
