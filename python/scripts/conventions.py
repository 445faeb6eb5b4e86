"""Compares every score with other packages and writes docs/python/conventions.md.

python scripts/conventions.py needs torch, torchmetrics, netcal, scikit-learn, uncertainty-toolbox and mapie; rows of a
package that is not installed say so and keep nothing.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any, Callable, List, Tuple

import numpy as np

import dubio

FILE = Path(__file__).resolve().parents[2] / "docs/python/conventions.md"


def data() -> Tuple[Any, Any, Any, Any, Any]:
    """600 examples of 4 classes, overconfident; and 500 Gaussians with targets."""
    draws = np.random.default_rng(7)
    logits = 2 * draws.normal(size=(600, 4))
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    flat = np.exp(logits / 2) / np.exp(logits / 2).sum(axis=1, keepdims=True)
    labels = np.array([draws.choice(4, p=p) for p in flat])
    mean = draws.normal(size=500)
    std = np.exp(0.3 * draws.normal(size=500))
    targets = mean + 1.3 * std * draws.normal(size=500)
    return probs, labels, mean, std, targets


probs, labels, mean, std, targets = data()
#: Three members whose mean differs from each of them.
members = np.random.default_rng(9).dirichlet(np.ones(4), size=(3, 600))
#: Draws, and quantiles at three levels, of the Gaussians.
samples = mean + std * np.random.default_rng(10).normal(size=(20, 500))
levels = np.array([0.1, 0.5, 0.9])
quantiles = np.quantile(samples, levels, axis=0)
#: Multiples of 1/4, which are exact: with 4 bins every confidence lies on an edge.
quarters = np.random.default_rng(8).multinomial(4, [0.6, 0.2, 0.1, 0.1], size=600) / 4
#: Wrong at confidence 1 and right below, so that a bin which holds both 0.75 and 1 mixes gaps of both signs.
truth = np.where(quarters.max(axis=1) < 1, quarters.argmax(axis=1), 3)
#: 600 examples of 8 classes, of which the true one is often not among the first five.
wide = np.random.default_rng(11).dirichlet(np.ones(8), size=600)
wide_labels = np.random.default_rng(12).integers(0, 8, size=600)
Row = Tuple[str, str, Callable[[], float], Callable[[], float], str]


def rows() -> List[Row]:
    """Score, package and function, ours, theirs, how they differ."""
    confidence, correct = probs.max(axis=1), (probs.argmax(axis=1) == labels).astype(float)
    onehot = np.eye(4)[labels]
    pooled = members.mean(axis=0)
    pooled_wrong = (pooled.argmax(axis=1) != labels).astype(float)

    def entropy(p: Any) -> Any:
        return -(p * np.log(p)).sum(axis=-1)

    #: What a wrong prediction is detected by.
    signals = {
        "confidence": -pooled.max(axis=1),
        "total": entropy(pooled),
        "model": entropy(pooled) - entropy(members).mean(axis=0),
    }

    def sk(name: str) -> Any:
        import sklearn.metrics

        return getattr(sklearn.metrics, name)

    def tm(name: str, predicted: Any = probs, labels: Any = labels, **how: Any) -> float:
        import torch
        import torchmetrics.functional.classification as functional

        return float(getattr(functional, name)(torch.tensor(predicted), torch.tensor(labels), num_classes=4, **how))

    def crps_of_draws() -> float:
        import torch
        from torchmetrics.functional.regression import continuous_ranked_probability_score as crps

        return float(crps(torch.tensor(samples.T), torch.tensor(targets)))

    def fpr95(wrong: Any, signal: Any) -> float:
        false, found, _ = sk("roc_curve")(wrong, signal, drop_intermediate=False)
        return float(false[found >= 0.95][0])

    def netcal(name: str, bins: int, predicted: Any = probs, labels: Any = labels) -> float:
        import netcal.metrics

        return float(getattr(netcal.metrics, name)(bins).measure(predicted, labels))

    def netcal_mmce() -> float:
        import netcal.metrics

        return float(netcal.metrics.MMCE().measure(probs, labels))

    def toolbox(name: str, **how: Any) -> float:
        import uncertainty_toolbox.metrics_calibration as c
        import uncertainty_toolbox.metrics_scoring_rule as s

        function = getattr(s, name, None) or getattr(c, name)
        return float(function(mean, std, targets, **how))

    def toolbox_accuracy(key: str) -> float:
        from uncertainty_toolbox.metrics_accuracy import prediction_error_metrics

        return float(prediction_error_metrics(mean, targets)[key])

    def mapie(name: str) -> float:
        import mapie.metrics.regression as r

        low, high = mean - 1.959963984540054 * std, mean + 1.959963984540054 * std
        intervals = np.stack([low, high], axis=1)[:, :, None]
        if name == "coverage":
            return float(np.ravel(r.regression_coverage_score(targets, intervals))[0])
        if name == "winkler":
            return float(r.regression_mwi_score(targets, intervals, 0.95))
        return float(np.ravel(r.regression_mean_width_score(intervals))[0])

    def mapie_ece(**how: Any) -> float:
        from mapie.metrics.calibration import expected_calibration_error

        return float(expected_calibration_error(correct, probs, num_bins=16, split_strategy="uniform", **how))

    def netcal_picp(which: str) -> float:
        import netcal.metrics

        return float(np.ravel(getattr(netcal.metrics.PICP().measure((mean, std), targets, q=0.95), which))[0])

    def netcal_nll() -> float:
        import netcal.metrics

        return float(np.ravel(netcal.metrics.NLL().measure((mean, std), targets))[0])

    def quantiles_of_gaussians() -> Any:
        """The 99 quantiles that uncertainty-toolbox averages over."""
        from scipy.stats import norm

        levels = np.linspace(0.01, 0.99, 99)
        return {"quantiles": mean + std * norm.ppf(levels)[:, None], "levels": levels, "targets": targets}

    def mapie_ks() -> float:
        from mapie.metrics.calibration import cumulative_differences

        return float(np.abs(cumulative_differences(correct, confidence, noise_amplitude=0)).max())

    def mapie_auarc() -> float:
        from mapie.metrics.uncertainty import auarc

        return float(auarc(correct, confidence))

    #: Every measure by every signal: ours has the members, scikit-learn their signals.
    detection: List[Row] = []
    functions = {
        "auroc": ("`roc_auc_score`", lambda wrong, signal: float(sk("roc_auc_score")(wrong, signal)), ""),
        "aupr": ("`average_precision_score`", lambda wrong, signal: float(sk("average_precision_score")(wrong, signal)), "except for ties, where scikit-learn uses one threshold for the whole run"),
        "fpr95": ("`roc_curve`, at the first rate of 0.95", fpr95, ""),
    }
    for measure, (words, function, note) in functions.items():
        for signal, values in signals.items():
            name = f"misclassification_{measure}_{signal}"
            ours = lambda name=name: getattr(dubio, name)(members, labels)
            theirs = lambda function=function, values=values: function(pooled_wrong, values)
            detection.append((name, f"scikit-learn {words}", ours, theirs, note))

    r = dubio.regression
    return [
        ("accuracy", "scikit-learn `accuracy_score`", lambda: dubio.accuracy(probs, labels), lambda: sk("accuracy_score")(labels, probs.argmax(1)), ""),
        ("error", "scikit-learn `zero_one_loss`", lambda: dubio.error(probs, labels), lambda: sk("zero_one_loss")(labels, probs.argmax(1)), ""),
        ("macro_f1", "scikit-learn `f1_score(average='macro')`", lambda: dubio.macro_f1(probs, labels), lambda: sk("f1_score")(labels, probs.argmax(1), average="macro"), ""),
        ("nll", "scikit-learn `log_loss`", lambda: dubio.nll(probs, labels), lambda: sk("log_loss")(labels, probs), "scikit-learn clips probabilities to machine epsilon; here a true class of probability 0 gives inf"),
        ("brier", "scikit-learn `brier_score_loss`, sum over classes", lambda: dubio.brier(probs, labels), lambda: sk("brier_score_loss")(labels, probs, scale_by_half=False, labels=[0, 1, 2, 3]), "scikit-learn halves it for two classes unless `scale_by_half=False`"),
        ("brier_per_class", "scikit-learn `mean_squared_error` of one-hot labels", lambda: dubio.brier_per_class(probs, labels), lambda: sk("mean_squared_error")(onehot, probs), ""),
        ("top5_accuracy", "scikit-learn `top_k_accuracy_score(k=5)`", lambda: dubio.top5_accuracy(wide, wide_labels), lambda: sk("top_k_accuracy_score")(wide_labels, wide, k=5), "of 8 classes; with fewer than five, every class is among the first five"),
        ("agreement", "scikit-learn `accuracy_score` of two predictions", lambda: dubio.agreement(probs, labels, reference=pooled), lambda: sk("accuracy_score")(probs.argmax(1), pooled.argmax(1)), ""),
        *detection,
        ("ece", "torchmetrics `multiclass_calibration_error(n_bins=15)`", lambda: dubio.ece(probs, labels, edges="torchmetrics"), lambda: tm("multiclass_calibration_error", n_bins=15), "`edges=\"torchmetrics\"`: bins [l, u), and one more for exactly 1"),
        ("mce", "torchmetrics `multiclass_calibration_error(norm='max')`", lambda: dubio.mce(probs, labels, edges="torchmetrics"), lambda: tm("multiclass_calibration_error", n_bins=15, norm="max"), "`edges=\"torchmetrics\"`"),
        ("ece", "netcal `ECE(15)`", lambda: dubio.ece(probs, labels, edges="left-closed"), lambda: netcal("ECE", 15), "`edges=\"left-closed\"`: bins [l, u), with 1 in the last"),
        ("mce", "netcal `MCE(15)`", lambda: dubio.mce(probs, labels, edges="left-closed"), lambda: netcal("MCE", 15), "`edges=\"left-closed\"`"),
        ("ece", "MAPIE `expected_calibration_error(num_bins=16)`", lambda: dubio.ece(probs, labels), mapie_ece, "`num_bins` of MAPIE counts edges: 16 make 15 bins; `split_strategy=\"uniform\"`"),
        ("sce", "MAPIE `expected_calibration_error(classwise=True)`", lambda: dubio.sce(probs, labels), lambda: mapie_ece(classwise=True, class_labels=labels), "the same 16 edges"),
        ("mmce", "netcal `MMCE`", lambda: dubio.mmce(probs, labels), netcal_mmce, ""),
        ("ks", "MAPIE `cumulative_differences`, the largest", lambda: dubio.ks(probs, labels), mapie_ks, "MAPIE's `kolmogorov_smirnov_statistic` divides it by its standard deviation, for a test"),
        ("au_arc", "MAPIE `auarc`", lambda: dubio.au_arc(probs, labels), mapie_auarc, "except for ties, whose members share their mean here; `aurc` is 1 minus it"),
        ("ece", "torchmetrics, 4 bins, every confidence on an edge", lambda: dubio.ece(quarters, truth, bins=4, edges="torchmetrics"), lambda: tm("multiclass_calibration_error", quarters, truth, n_bins=4), f"`edges=\"torchmetrics\"`; the default, right-closed, gives {dubio.ece(quarters, truth, bins=4):.8f}"),
        ("ece", "netcal, 4 bins, every confidence on an edge", lambda: dubio.ece(quarters, truth, bins=4, edges="left-closed"), lambda: netcal("ECE", 4, quarters, truth), f"`edges=\"left-closed\"`; the default gives {dubio.ece(quarters, truth, bins=4):.8f}"),
        ("mae", "uncertainty-toolbox `prediction_error_metrics`", lambda: r.mae(mean, std, targets), lambda: toolbox_accuracy("mae"), ""),
        ("mse", "scikit-learn `mean_squared_error`", lambda: r.mse(mean, std, targets), lambda: sk("mean_squared_error")(targets, mean), ""),
        ("rmse", "uncertainty-toolbox `prediction_error_metrics`", lambda: r.rmse(mean, std, targets), lambda: toolbox_accuracy("rmse"), ""),
        ("pearson", "uncertainty-toolbox `prediction_error_metrics`", lambda: r.pearson(mean, std, targets), lambda: toolbox_accuracy("corr"), ""),
        ("nll", "uncertainty-toolbox `nll_gaussian`", lambda: r.nll(mean, std, targets), lambda: toolbox("nll_gaussian"), ""),
        ("nll", "netcal `NLL`", lambda: r.nll(mean, std, targets), netcal_nll, ""),
        ("crps", "uncertainty-toolbox `crps_gaussian`", lambda: r.crps(mean, std, targets), lambda: toolbox("crps_gaussian"), ""),
        ("crps", "torchmetrics `continuous_ranked_probability_score`, of draws", lambda: r.crps(samples=samples, targets=targets), crps_of_draws, ""),
        ("pinball", "scikit-learn `mean_pinball_loss`, mean over levels", lambda: r.pinball(quantiles=quantiles, levels=levels, targets=targets), lambda: np.mean([sk("mean_pinball_loss")(targets, q, alpha=a) for q, a in zip(quantiles, levels)]), ""),
        ("pinball", "uncertainty-toolbox `check_score`", lambda: r.pinball(**quantiles_of_gaussians()), lambda: toolbox("check_score"), "of 99 quantiles, which uncertainty-toolbox takes from the Gaussians"),
        ("picp", "MAPIE `regression_coverage_score`", lambda: r.picp(mean, std, targets), lambda: mapie("coverage"), "of the central 95 % interval"),
        ("mpiw", "MAPIE `regression_mean_width_score`", lambda: r.mpiw(mean, std, targets), lambda: mapie("width"), "of the central 95 % interval"),
        ("picp", "netcal `PICP(...).picp`", lambda: r.picp(mean, std, targets), lambda: netcal_picp("picp"), "`q=0.95`"),
        ("mpiw", "netcal `PICP(...).mpiw`", lambda: r.mpiw(mean, std, targets), lambda: netcal_picp("mpiw"), "`q=0.95`"),
        ("qce", "uncertainty-toolbox `mean_absolute_calibration_error(num_bins=10)`", lambda: r.qce(mean, std, targets), lambda: toolbox("mean_absolute_calibration_error", num_bins=10), "central intervals at 10 levels from 0 to 1, both ends included"),
        ("interval_score", "by its formula, Gneiting and Raftery 2007", lambda: r.interval_score(mean, std, targets), interval_score, "uncertainty-toolbox averages over 99 levels instead of using one"),
        ("interval_score", "MAPIE `regression_mwi_score`", lambda: r.interval_score(mean, std, targets), lambda: mapie("winkler"), "of the central 95 % interval"),
    ]


def interval_score() -> float:
    """Width plus 2 / alpha times the distance outside, alpha = 0.05."""
    low, high = mean - 1.959963984540054 * std, mean + 1.959963984540054 * std
    outside = np.maximum(low - targets, 0) + np.maximum(targets - high, 0)
    return float((high - low + 40 * outside).mean())


#: Names that stand for something else in another package: name, package, theirs, ours.
OTHERS = [
    ("ace", "netcal `ACE`", "average calibration error: gaps of bins of the confidence, each bin with the same weight", "adaptive calibration error: bins of equal mass, of every class"),
    ("uce", "netcal `UCE`", "for regression: variance against squared error, in bins of the variance", "for classification: normalised entropy against the error rate"),
    ("qce", "netcal `QCE`", "coverage of the squared normalised error at one level", "coverage of central intervals, mean over 10 levels"),
    ("ks", "MAPIE `kolmogorov_smirnov_statistic`", "the largest cumulative difference over its standard deviation", "the largest cumulative difference"),
    ("sharpness", "uncertainty-toolbox `sharpness`", "root mean variance of the Gaussians", "of a check: the width of its replicates; of intervals: `mpiw`"),
]


def version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package} not installed"


def main() -> None:
    packages = ["scikit-learn", "torchmetrics", "netcal", "uncertainty-toolbox", "mapie"]
    lines = [
        "# Scores beside those of other packages",
        "",
        "Generated by `python/scripts/conventions.py`. Each row computes a score with both packages on the same synthetic predictions:",
        "600 examples of 4 classes and 500 Gaussians. torchmetrics computes in single precision.",
        "",
        "Versions: " + ", ".join(map(version, packages)) + ".",
        "",
        "| score | other package | dubio | other | difference | convention |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, other, ours, theirs, note in rows():
        a = ours()
        try:
            b = theirs()
            found = f"{a:.8f} | {b:.8f} | {abs(a - b):.1e}"
        except ImportError as error:
            found = f"{a:.8f} | — | not installed: {error.name}"
        lines.append(f"| `{name}` | {other} | {found} | {note} |")
    lines += ["", "## The same name, another score", "", "| name | package | there | here |", "| --- | --- | --- | --- |"]
    lines += [f"| `{name}` | {package} | {theirs} | {ours} |" for name, package, theirs, ours in OTHERS]
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text("\n".join(lines) + "\n")
    print(FILE.read_text())


if __name__ == "__main__":
    main()
