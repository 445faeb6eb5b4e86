"""Writes docs/python/tour.ipynb: python scripts/make_notebook.py. tests/test_notebook.py runs it in Jupyter."""

from __future__ import annotations

import json
from pathlib import Path

CELLS = [
    "# A tour of dubio\n\nDoes a model know what it does not know? Scores, checks, comparisons and training, from arrays.",
    "import numpy as np\nimport dubio\n\ndraws = np.random.default_rng(0)",
    "## Scores\n\nPredictions of an ensemble are `[members, examples, classes]`. These were made up: four members that are too sure of themselves.",
    "logits = draws.normal(size=(500, 5))\nlabels = np.array([draws.choice(5, p=np.exp(z) / np.exp(z).sum()) for z in logits])\nensemble = 2 * logits + 0.5 * draws.normal(size=(4, 500, 5))\ncard = dubio.evaluate(logits=ensemble, labels=labels, resamples=200)\ncard",
    "Every score has its value and its 95 % interval, and is a function with its own documentation.",
    "print(card['ece'].value, card['ece'].interval)\nprint(dubio.ece(logits=ensemble, labels=labels, bins=10))\nprint(dubio.ece.__doc__)",
    "## Calibration\n\nA temperature above 1 says that the model is overconfident. Fit it on validation data, apply it to the rest.",
    "fitted = dubio.calibrate(logits=ensemble[:, :250], labels=labels[:250])\ncalm = fitted.apply(logits=ensemble[:, 250:])\nfitted, dubio.nll(logits=ensemble[:, 250:], labels=labels[250:]), dubio.nll(calm, labels[250:])",
    "## Posterior predictive checks and comparisons",
    "dubio.check(logits=ensemble, labels=labels, statistic=['accuracy', 'ece'], replicates=200)",
    "dubio.compare({'ensemble': ensemble, 'one member': ensemble[:1]}, labels, form='logits', resamples=200)",
    "How many independently trained networks is a method worth? Four members that are nearly alike are worth one:",
    "networks = logits + draws.normal(size=(4, 500, 5))\nalike = networks[:1] + 0.1 * draws.normal(size=(4, 500, 5))\ndubio.dee({'alike': alike}, labels, baseline=networks, form='logits')",
    "## Regression",
    "mean, std = draws.normal(size=300), np.full(300, 0.8)\ntargets = mean + draws.normal(size=300)\ndubio.regression.evaluate(mean, std, targets, resamples=200)",
    "## Training\n\nEvery method of the library is a scikit-learn estimator.",
    "X = draws.normal(size=(300, 2))\ny = np.where(X[:, 0] * X[:, 1] > 0, 'same', 'different')\nmodel = dubio.fit('deep-ensemble', X[:200], y[:200], network='mlp-50', members=3, epochs=60, batch=32)\nmodel.score(X[200:], y[200:]), dubio.METHODS",
    "## A report\n\nOne page that needs nothing else.",
    "import os, tempfile\n\nfolder = tempfile.mkdtemp()\ntext = dubio.report({'ensemble': ensemble}, labels, os.path.join(folder, 'report.html'), form='logits', resamples=100)\nlen(text) > 10000",
]


def notebook() -> str:
    """The notebook as JSON; a cell that imports or calls is code."""
    cells = []
    for index, text in enumerate(CELLS):
        is_text = text.startswith("#") or text.startswith(("Every score", "How many"))
        cell = {"cell_type": "markdown" if is_text else "code", "id": f"cell-{index}", "metadata": {}}
        cell["source"] = text.splitlines(keepends=True)
        if not is_text:
            cell |= {"execution_count": None, "outputs": []}
        cells.append(cell)
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


if __name__ == "__main__":
    path = Path(__file__).resolve().parents[2] / "docs/python/tour.ipynb"
    path.write_text(notebook())
