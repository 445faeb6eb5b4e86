"""With scikit-learn: a score as a scorer, and estimators that have ``predict_proba``."""

from __future__ import annotations

from typing import Any, Callable, Dict

import numpy as np
import numpy.typing as npt

from ._card import Scores
from ._cards import scores
from ._errors import SettingError
from ._evaluate import evaluate

__all__ = ["evaluate_estimator", "labels_of", "scorer"]


def labels_of(estimator: Any, y: Any) -> npt.NDArray[np.int64]:
    """Labels as numbers from 0, in the order of the estimator's classes."""
    classes = np.asarray(estimator.classes_)
    places = {value: index for index, value in enumerate(classes.tolist())}
    try:
        return np.array([places[value] for value in np.asarray(y).tolist()], dtype=np.int64)
    except KeyError as unknown:
        raise SettingError(f"class {unknown} is not one of the estimator's: {classes.tolist()}") from None


def evaluate_estimator(estimator: Any, X: Any, y: Any, **settings: Any) -> Scores:
    """Every score of an estimator's ``predict_proba`` on a test set."""
    return evaluate(estimator.predict_proba(X), labels_of(estimator, y), **settings)


def scorer(score: str, **settings: Any) -> Callable[[Any, Any, Any], float]:
    """A score for ``cross_val_score`` and ``GridSearchCV``: higher is better, so those that are better when
    lower, and distances from 0, are negated."""
    cards: Dict[str, Dict[str, Any]] = {card["name"]: card for card in scores("classification")}
    card = cards.get(score.removeprefix("calibrated.") if hasattr(score, "removeprefix") else score)
    if card is None:
        raise SettingError(f"no score of classification is called `{score}`; dubio.SCORES lists them")
    direction = card["direction"]
    if direction == "neither":
        raise SettingError(f"`{score}` has no better direction, so nothing can be chosen by it")

    def value(estimator: Any, X: Any, y: Any) -> float:
        found = float(evaluate_estimator(estimator, X, y, scores=[score], intervals=False, **settings)[score])
        return found if direction == "higher" else -(abs(found) if direction == "zero" else found)

    return value
