"""Which scores, methods and networks there are: from the library, so that what is added there is here too."""

from __future__ import annotations

import inspect
import json
import textwrap
from typing import Any, Dict, List, Tuple

from . import _dubio

CARDS: Dict[str, List[Dict[str, Any]]] = json.loads(_dubio.cards())

#: Names of the methods of inference that :func:`dubio.fit` takes.
METHODS: List[str] = [card["name"] for card in CARDS["methods"]]
#: Families of networks.
NETWORKS: List[str] = [card["name"] for card in CARDS["networks"]]


def scores(task: str) -> List[Dict[str, Any]]:
    """The cards of a task's scores."""
    return [card for card in CARDS["scores"] if card["task"] == task]


def function_name(score: str) -> str:
    """A score's name as Python takes it: ``misclassification.auroc.total`` with underscores."""
    return score.replace(".", "_")


def arguments(card: Dict[str, Any]) -> List[str]:
    """Settings that a score's function takes besides predictions and truth."""
    names = list(card["settings"])
    if card["requires"] in ("reference", "costs"):
        names.append(card["requires"])
    if card["calibrated"]:
        names += ["calibrated", "seed"]
    return names


#: Predictions and truth: what a score's function takes by place, and what only by name.
FORMS: Dict[str, Tuple[List[str], List[str]]] = {
    "classification": (["probs", "labels"], ["logits", "log_probs"]),
    "regression": (["mean", "std", "targets"], ["var", "samples", "quantiles", "levels", "lower", "upper"]),
}
#: Types and defaults of settings.
SETTINGS: Dict[str, Tuple[Any, Any]] = {
    "bins": (int, 15),
    "edges": (str, "right-closed"),
    "threshold": (float, 0.001),
    "level": (float, 0.95),
    "reference": (Any, None),
    "costs": (Any, None),
    "calibrated": (bool, False),
    "seed": (int, 0),
}


def signature(card: Dict[str, Any]) -> inspect.Signature:
    """What a score's function takes."""
    by_place, by_name = FORMS[card["task"]]
    only = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None) for name in by_place]
    parameters += [inspect.Parameter(name, only, default=None) for name in by_name]
    for name in arguments(card):
        kind, default = SETTINGS[name]
        parameters.append(inspect.Parameter(name, only, default=default, annotation=kind))
    return inspect.Signature(parameters, return_annotation=float)


def doc(card: Dict[str, Any]) -> str:
    """A score's docstring."""
    low, high = card["range"]
    better = {"higher": "higher", "lower": "lower", "zero": "closer to 0", "neither": "neither"}
    lines = [
        card["summary"],
        "",
        *textwrap.wrap(card["formula"], 96),
        "",
        f"Range: {low} to {high}. Better: {better[card['direction']]}.",
    ]
    about = {
        "bins": "Number of bins.",
        "edges": "Which bin a value on an edge belongs to: right-closed, left-closed, torchmetrics, drop-one or "
        "quantile-strict.",
        "threshold": "Probabilities at or below it do not count.",
        "reference": "Reference predictions of the same examples, in the same form.",
        "costs": "Cost matrix [decision, truth].",
        "level": "Mass of the central interval.",
        "calibrated": "Score at the best temperature, by cross-validation on the test set.",
        "seed": "Seed of the cross-validation's splits.",
    }
    names = arguments(card)
    if names:
        lines += ["", "Settings:"] + [f"    {name}: {about[name]}" for name in names]
    return "\n".join([*lines, "", f"Source: {card['citation']}"])
