"""Every score as a function, made from its card."""

from __future__ import annotations

from typing import Any, Callable, Dict, List

from ._card import Scores
from ._cards import arguments, doc, function_name, scores, signature


def _function(card: Dict[str, Any], evaluate: Callable[..., Scores]) -> Callable[..., float]:
    name, takes = card["name"], signature(card)

    def score(*positional: Any, **settings: Any) -> float:
        unknown = sorted(set(settings) - set(takes.parameters))
        if unknown:
            known = ", ".join(arguments(card)) or "none"
            raise TypeError(f"{name} has no setting `{unknown[0]}`; its settings are: {known}")
        calibrated = settings.pop("calibrated", False)
        full = f"calibrated.{name}" if calibrated else name
        found = evaluate(*positional, scores=[full], intervals=False, **settings)[full]
        return float(found)

    score.__name__ = score.__qualname__ = function_name(name)
    score.__doc__ = doc(card)
    setattr(score, "__signature__", takes)  # for help() and editors
    return score


def _add(task: str, module: Dict[str, Any], evaluate: Callable[..., Scores]) -> List[str]:
    names = []
    for card in scores(task):
        function = _function(card, evaluate)
        function.__module__ = module["__name__"]
        module[function.__name__] = function
        names.append(function.__name__)
    return names


def add_classification(module: Dict[str, Any], evaluate: Callable[..., Scores]) -> List[str]:
    """Puts every score of classification into a module; returns their names."""
    return _add("classification", module, evaluate)


def add_regression(module: Dict[str, Any], evaluate: Callable[..., Scores]) -> List[str]:
    """Puts every score of regression into a module; returns their names."""
    return _add("regression", module, evaluate)
