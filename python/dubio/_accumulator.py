"""Predictions batch by batch, as torchmetrics has it."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import numpy as np
import numpy.typing as npt

from ._arrays import as_numpy
from ._card import Scores
from ._errors import PredictionError
from ._evaluate import FORMS, evaluate


class Accumulator:
    """Collects predictions batch by batch; :meth:`compute` scores them all at once.

    >>> import dubio
    >>> metric = dubio.Accumulator(scores=["accuracy"], intervals=False)
    >>> metric.update([[0.9, 0.1]], [0])
    >>> metric.update([[0.2, 0.8]], [0])
    >>> metric.compute()["accuracy"].value
    0.5
    """

    def __init__(self, form: str = "probs", **settings: Any) -> None:
        if form not in FORMS:
            raise PredictionError(f"form must be {', '.join(FORMS)}, got {form}")
        self.form = form
        self.settings = settings
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self._predictions: List[npt.NDArray[Any]] = []
        self._labels: List[npt.NDArray[Any]] = []

    def update(self, predictions: Any, labels: Any) -> None:
        """Adds a batch: ``[examples, classes]`` or ``[members, examples, classes]``, and its labels."""
        batch, truth = as_numpy(self.form, predictions), as_numpy("labels", labels)
        if batch.ndim not in (2, 3) or batch.shape[-2] != len(truth):
            shape, count = list(batch.shape), len(truth)
            raise PredictionError(f"array `{self.form}`: shape {shape} for {count} labels")
        if self._predictions and _without_examples(self._predictions[0]) != _without_examples(batch):
            first = list(self._predictions[0].shape)
            raise PredictionError(f"array `{self.form}`: shape {list(batch.shape)} after a batch of shape {first}")
        self._predictions.append(batch.copy())
        self._labels.append(truth.copy())

    def merge(self, other: "Accumulator") -> "Accumulator":
        """Adds what another one has collected, as another process did."""
        for batch, truth in zip(other._predictions, other._labels):
            self.update(batch, truth)
        return self

    def compute(self, **settings: Any) -> Scores:
        """The scores of everything so far."""
        if not self._predictions:
            raise PredictionError("nothing to score; call update first")
        predictions = np.concatenate(self._predictions, axis=-2)
        labels = np.concatenate(self._labels)
        given: Dict[str, Any] = {self.form: predictions, **self.settings, **settings}
        return evaluate(labels=labels, **given)

    def __len__(self) -> int:
        return sum(len(truth) for truth in self._labels)


def _without_examples(batch: npt.NDArray[Any]) -> Any:
    return (batch.ndim, batch.shape[:-2], batch.shape[-1])


def scalar(scores: Scores) -> "dict[str, float]":
    """Scores that have a value, as plain floats."""
    found: "dict[str, Optional[float]]" = {name: score.value for name, score in scores.items()}
    return {name: value for name, value in found.items() if value is not None}
